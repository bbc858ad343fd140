// gyre/http/body_reader.hpp: the body of a message, read as a stream.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/framing.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

class message_input;

/// Reads a body as it arrives; the sender waits while nobody reads. Chunks are taken apart, and nothing is copied by
/// receive().
///
/// Errors, of all functions here: status_error with 413 for a body beyond the limit, 400 for one with malformed chunks, 408
/// for a sender that has become too slow; incomplete_transfer when the connection ends in the middle.
/// A body is read once. A handler gets only the rest that middleware has left, which may be nothing.
/// Thread: that of the request. One task reads at a time; a second one stops the program with a sentence.
class GYRE_API body_reader {
 public:
  /// The next piece, empty at the end of the body.
  ///
  /// Lifetime: the piece until the next call. Cancel: nothing is lost. Errors: as said.
  [[nodiscard]] task<std::string_view> receive();

  /// Copies what has arrived, at least one byte; 0 at the end of the body.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing is lost. Errors: as said.
  [[nodiscard]] task<std::size_t> read_some(std::span<std::byte> buffer);

  /// The whole rest.
  ///
  /// Cancel: what had been read is lost. Errors: as said.
  [[nodiscard]] task<std::string> read_all();

  /// The most bytes that will be read; more is answered with 413. Set it before reading. At first what the server's limits
  /// say.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  /// As the sender has announced it; nothing when it comes in chunks.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;
  /// Bytes read so far.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// Nothing is left to be read.
  [[nodiscard]] bool at_end() const noexcept { return left_ == 0; }
  /// It was malformed, came too slowly, or the connection ended in the middle: there will be no more of it.
  [[nodiscard]] bool failed() const noexcept;
  /// Fields behind a body in chunks that has been read to its end. Lifetime: as the message.
  [[nodiscard]] std::vector<field> trailers() const { return chunks_.trailers(); }

  /// For whoever has parsed the head. Lifetime: `input` outlives the use of this.
  void start(message_input& input, const framing& body, std::uint64_t limit) noexcept;
  /// Tells a client that waits for "100 Continue" to send the body, unless that is beyond the limit.
  ///
  /// Cancel: may be said in part; nothing can follow. Errors: none.
  [[nodiscard]] task<> ask_for_it();
  /// Reads what is left and forgets it, at most about `most` bytes, those around the data of chunks too. Gives whether the
  /// end was reached.
  ///
  /// Cancel: nothing is lost. Errors: none; what would be one gives false.
  [[nodiscard]] task<bool> skip(std::uint64_t most);

 private:
  [[nodiscard]] task<std::string_view> receive_at_most(std::size_t most);
  [[nodiscard]] std::string_view take(std::size_t most);
  [[nodiscard]] std::string_view take_chunked(std::size_t most);
  void check_limit(std::uint64_t bytes) const;
  task<> wait_for_more();

  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  message_input* input_ = nullptr;
  chunked_decoder chunks_;
  body_kind kind_ = body_kind::none;
  std::uint64_t left_ = 0;  // of the body; unknown when only its end will tell
  std::uint64_t received_ = 0;
  std::uint64_t consumed_ = 0;  // of chunks, with what is around the data
  std::uint64_t limit_ = 0;
  bool continue_wanted_ = false;  // the client waits for 100 before it sends the body
};

}  // namespace gyre::http
