// gyre/http/body_reader.hpp: the body of a message, read as a stream.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_decoder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {
class socket_bulk;
struct socket_state;
}  // namespace gyre

namespace gyre::http {

class request_sender;
class message_input;

/// Reads a body as it arrives. The sender waits while nobody reads. Chunks are decoded, and receive() copies nothing.
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
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return body_.length(); }
  /// Bytes read so far.
  [[nodiscard]] std::uint64_t received() const noexcept { return body_.received(); }
  /// True when nothing is left to read.
  [[nodiscard]] bool at_end() const noexcept { return body_.at_end(); }
  /// True when the body was malformed, came too slowly, or was cut off by the end of the connection. No more of it will
  /// come.
  [[nodiscard]] bool failed() const noexcept;
  /// The trailer fields of a chunked body that has been read to its end. Lifetime: same as the message.
  [[nodiscard]] std::vector<field> trailers() const { return body_.trailers(); }

  /// For the code that has parsed the head. Lifetime: `input` outlives the use of this.
  void start(message_input& input, const framing& body, std::uint64_t limit) noexcept;
  /// Sends "100 Continue" to a client that waits for it, unless the body is beyond the limit.
  ///
  /// Cancel: it may be sent in part; nothing can be sent after it. Errors: none.
  [[nodiscard]] task<> ask_for_it();
  /// Reads the rest and discards it, at most about `most` bytes, chunk framing included. Returns whether the end was
  /// reached.
  ///
  /// Cancel: nothing is lost. Errors: none; returns false instead.
  [[nodiscard]] task<bool> skip(std::uint64_t most);
  /// Discards the part of the rest that has arrived, and subtracts its size from `most`, chunk framing included.
  /// Returns false when it makes no sense to wait for the end: more than `most` bytes are missing, the chunks are
  /// malformed, or the client waits for 100. Errors: none.
  [[nodiscard]] bool skip_arrived(std::uint64_t& most);

 private:
  friend class request_sender;  // passes bodies on
  // The socket from which receive_bulk() takes pieces, or null when receive() has to be used.
  [[nodiscard]] socket_state* bulk_source() const noexcept;
  // Returns the size of the piece, or 0 when receive() has to go on. Until the end of the body, or end_bulk(), the
  // server does not look whether the client has left. Otherwise the same as receive().
  task<std::size_t> receive_bulk(socket_bulk& bulk);
  void end_bulk() noexcept;
  [[noreturn]] void fail(bool timed_out);
  [[nodiscard]] task<std::string_view> receive_some(std::size_t most);
  [[nodiscard]] std::string_view take(std::size_t most);
  [[nodiscard]] std::uint64_t known_length() const noexcept { return body_.length().value_or(body_.received()); }
  void expect_one_reader() const;
  void check_limit(std::uint64_t bytes) const;
  task<> wait_for_more();

  message_input* input_ = nullptr;
  body_decoder body_;
  std::uint64_t limit_ = 0;
  bool continue_wanted_ = false;  // the client waits for 100 before it sends the body
};

}  // namespace gyre::http
