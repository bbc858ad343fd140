// gyre/http/multipart_reader.hpp: reads a form with files part by part as it arrives. RFC 7578.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/multipart_decoder.hpp>
#include <gyre/http/request.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::http {

/// Reads the body of a multipart/form-data request. Keeps only the current piece in memory.
///
///   http::multipart_reader form(request);
///   while (const http::multipart_part* part = co_await form.next_part())
///     for (;;) {
///       const std::string_view piece = co_await form.receive();
///       if (piece.empty()) break;
///       co_await out.write_all(piece);
///     }
///
/// Errors, of all functions here: same as body_reader; status_error with 400 for a malformed form.
/// Lifetime: the request outlives it. Thread: that of the request.
class GYRE_API multipart_reader {
 public:
  /// Errors: status_error with 415 when the body is of another type.
  explicit multipart_reader(request& r, const multipart_limits& limits = {});

  /// Skips the rest of this part and goes to the next one. Null when there is none.
  ///
  /// Lifetime: the part is valid until the next call of next_part(). Cancel: nothing is lost. Errors: see
  /// multipart_reader.
  [[nodiscard]] task<const multipart_part*> next_part();

  /// The next piece of this part. Empty at the end of the part.
  ///
  /// Lifetime: the piece is valid until the next call. Cancel: nothing is lost. Errors: see multipart_reader.
  [[nodiscard]] task<std::string_view> receive();

  /// Reads the rest of this part, at most `limit` bytes.
  ///
  /// Cancel: the part that has been read is lost. Errors: see multipart_reader; status_error with 413 when the rest is
  /// longer.
  [[nodiscard]] task<std::string> read_part(std::size_t limit = std::size_t{64} << 10U);

 private:
  task<multipart_decoder::step> advance();

  request& request_;
  multipart_decoder decoder_;
  std::string_view left_;  // unread rest of the current piece of the body
  bool body_ended_ = false;
  bool in_part_ = false;
};

}  // namespace gyre::http
