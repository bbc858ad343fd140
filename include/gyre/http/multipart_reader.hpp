// gyre/http/multipart_reader.hpp: a form with files, read part by part as it arrives. RFC 7578.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/multipart_decoder.hpp>
#include <gyre/http/request.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::http {

/// Reads the body of a request that is multipart/form-data. Nothing is kept in memory but the piece that was asked for.
///
///   http::multipart_reader form(request);
///   while (const http::multipart_part* part = co_await form.next_part())
///     for (;;) {
///       const std::string_view piece = co_await form.receive();
///       if (piece.empty()) break;
///       co_await out.write_all(piece);
///     }
///
/// Errors, of all functions here: those of the body; status_error with 400 for a malformed form.
/// Lifetime: the request outlives it. Thread: that of the request.
class GYRE_API multipart_reader {
 public:
  /// Errors: status_error with 415 when the body is of another type.
  explicit multipart_reader(request& r, const multipart_limits& limits = {});

  /// Goes to the next part, past what is left of this one; null when there is none.
  ///
  /// Lifetime: what it points to until the next call. Cancel: nothing is lost. Errors: as said.
  [[nodiscard]] task<const multipart_part*> next_part();

  /// The next piece of this part, empty at its end.
  ///
  /// Lifetime: the piece until the next call. Cancel: nothing is lost. Errors: as said.
  [[nodiscard]] task<std::string_view> receive();

  /// The rest of this part, which is at most `limit` bytes.
  ///
  /// Cancel: what had been read is lost. Errors: as said; status_error with 413 when it is more.
  [[nodiscard]] task<std::string> read_part(std::size_t limit = std::size_t{64} << 10U);

 private:
  task<multipart_decoder::step> advance();

  request& request_;
  multipart_decoder decoder_;
  std::string_view left_;  // of the piece of the body that is being looked at
  bool body_ended_ = false;
  bool in_part_ = false;
};

}  // namespace gyre::http
