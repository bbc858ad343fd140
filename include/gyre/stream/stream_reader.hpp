// gyre/stream/stream_reader.hpp: reading lines, records and whole streams.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/shared_stream.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {

/// Reads from a byte stream through a buffer of its own. asyncio: StreamReader.
///
/// A task that keeps reading buffered data yields now and then, so that other tasks run.
/// Cancel: of every function here: nothing is lost; what had been read stays in the buffer for the next one.
/// Thread: that of the stream.
/// Overlap: one task reads at a time. A second one stops the program with a sentence, and so does destroying or moving the reader
/// while a task reads, and reading from one that was moved from.
class GYRE_API stream_reader {
 public:
  static constexpr std::size_t default_limit = std::size_t{64} << 10U;

  explicit stream_reader(any_stream stream) : stream_(shared_stream(std::move(stream))) {}
  explicit stream_reader(shared_stream stream) noexcept : stream_(std::move(stream)) {}
  stream_reader(stream_reader&& other) noexcept;
  stream_reader& operator=(stream_reader&& other) noexcept;
  ~stream_reader() { expect_idle(); }

  /// What is there, at most `most` bytes, at least one; empty at the end of the stream.
  ///
  /// Cancel: as said. Errors: what the stream throws.
  [[nodiscard]] task<std::string> read(std::size_t most = default_limit);

  /// Exactly `count` bytes.
  ///
  /// Cancel: as said. Errors: incomplete_transfer when the stream ends before; the bytes stay, and can be read.
  [[nodiscard]] task<std::string> read_exactly(std::size_t count);

  /// Up to and including `separator`.
  ///
  /// Cancel: as said. Errors: incomplete_transfer when the stream ends before; std::errc::message_size when it is not found
  /// within `limit` bytes; std::errc::invalid_argument when it is empty. The bytes stay, and can be read.
  [[nodiscard]] task<std::string> read_until(std::string separator, std::size_t limit = default_limit);
  /// Up to and including one of several separators, the one that ends first.
  ///
  /// Cancel: as said. Errors: same as read_until; std::errc::invalid_argument also when there are none.
  [[nodiscard]] task<std::string> read_until_any(std::vector<std::string> separators,
                                                 std::size_t limit = default_limit);

  /// The next line without its end ("\n" or "\r\n"); nothing at the end of the stream. The last line needs no end.
  ///
  /// Units: `limit` in bytes of the line without its end. Cancel: as said.
  /// Errors: std::errc::message_size for a line longer than `limit`. The bytes stay, and can be read.
  [[nodiscard]] task<std::optional<std::string>> read_line(std::size_t limit = default_limit);

  /// Everything to the end of the stream.
  ///
  /// Cancel: as said. Errors: std::errc::message_size when that is more than `limit`.
  [[nodiscard]] task<std::string> read_all(std::size_t limit);

  /// The stream has ended and the buffer is empty.
  [[nodiscard]] bool at_eof() const noexcept { return ended_ && buffered() == 0; }
  /// Bytes that have been read from the stream and not asked for.
  [[nodiscard]] std::size_t buffered() const noexcept { return buffer_.size() - begin_ - room_; }

 private:
  [[nodiscard]] std::string_view rest() const noexcept { return std::string_view(buffer_).substr(begin_, buffered()); }
  [[nodiscard]] std::string take(std::size_t count);
  [[nodiscard]] task<bool> fill(const char* operation);
  [[nodiscard]] bool budget_is_used_up() const noexcept;
  [[nodiscard]] task<> let_others_run();
  void expect_idle() const noexcept;

  shared_stream stream_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t room_ = 0;  // at the end of the buffer, while a read is under way
  bool ended_ = false;
  bool yields_ = false;  // a task lets others run before it reads
};

}  // namespace gyre
