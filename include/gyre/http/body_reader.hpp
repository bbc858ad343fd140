// gyre/http/body_reader.hpp: the body of a message, read as a stream.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_source.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// Reads a body as it arrives. The sender waits while nobody reads. receive() copies nothing.
///
/// Errors, of all functions here: status_error with 413 for a body beyond the limit, 400 for malformed chunks, 408 for
/// a sender that has become too slow; incomplete_transfer when the connection ends in the middle.
/// A body is read once. A handler gets only the rest that middleware has left, which may be nothing.
/// Thread: that of the request. One task reads at a time; a second reader stops the program with a message.
class GYRE_API body_reader {
 public:
  /// Returns the next piece. Empty at the end of the body.
  ///
  /// Lifetime: the piece is valid until the next call. Cancel: nothing is lost. Errors: see body_reader.
  [[nodiscard]] task<std::string_view> receive();

  /// Copies the bytes that have arrived, at least one. Returns 0 at the end of the body.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing is lost. Errors: see body_reader.
  [[nodiscard]] task<std::size_t> read_some(std::span<std::byte> buffer);

  /// Reads the whole rest of the body.
  ///
  /// Cancel: the part that has been read is lost. Errors: see body_reader.
  [[nodiscard]] task<std::string> read_all();

  /// The maximum number of bytes to read; a longer body is answered with 413. Set it before reading. Defaults to the
  /// server's limit.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  /// The length that the sender has announced. Nothing for a chunked body.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return source_->length(); }
  /// Bytes read so far.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// True when nothing is left to read.
  [[nodiscard]] bool at_end() const noexcept { return source_->at_end(); }
  /// True when the body was malformed, came too slowly, or was cut off by the end of the connection. No more of it will
  /// come.
  [[nodiscard]] bool failed() const noexcept { return source_->failed(); }
  /// The trailer fields of a body that has been read to its end. Lifetime: same as the message.
  [[nodiscard]] std::vector<field> trailers() const { return source_->trailers(); }

  // ---- For the code that implements a protocol, and for copies.

  /// Reads nothing before start().
  body_reader() noexcept = default;
  /// Lifetime: `source` outlives the use of this.
  body_reader(body_source& source, std::uint64_t limit) noexcept { start(source, limit); }
  body_reader& operator=(body_reader&&) = delete;
  /// Begins another body. Lifetime: `source` outlives the use of this.
  void start(body_source& source, std::uint64_t limit) noexcept {
    owner_.check("start");  // from here on it belongs to this loop
    source_ = &source;
    received_ = 0;
    limit_ = limit;
  }
  /// Tells a client that waits for it to send the body, unless that is beyond the limit.
  ///
  /// Cancel: the client may have been told. Errors: none.
  [[nodiscard]] task<> ask_for_it();
  /// The socket from which receive_bulk() moves the next bytes as they are, or null when receive() has to be used.
  [[nodiscard]] socket_state* bulk_socket() const noexcept { return source_->bulk_socket(); }
  /// Moves the next bytes into `bulk`, and returns their number, or 0 when receive() has to go on. Until end_bulk() or
  /// the end of the body, the server does not look whether the client has left.
  ///
  /// Cancel: nothing is lost. Errors: see body_reader.
  [[nodiscard]] task<std::size_t> receive_bulk(socket_bulk& bulk);
  void end_bulk() noexcept { source_->end_bulk(); }

 private:
  class waiting;
  [[nodiscard]] task<std::string_view> receive_some(std::size_t max);
  void expect_one_reader() const;
  void check_limit(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t known_length() const noexcept { return length().value_or(received_); }

  body_source* source_ = nullptr;
  std::uint64_t received_ = 0;
  std::uint64_t limit_ = 0;
  owner_loop_of<"the body of a request"> owner_;
  bool waits_ = false;
};

}  // namespace gyre::http
