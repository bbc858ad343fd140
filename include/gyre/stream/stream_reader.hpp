// gyre/stream/stream_reader.hpp: reads lines, records and whole streams.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/stream/shared_stream.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {

/// Reads from a byte stream through its own buffer. asyncio: StreamReader.
///
/// A task that keeps reading buffered data yields now and then, so that other tasks run.
/// Cancel: for every function here, nothing is lost. Bytes that were read stay in the buffer for the next call.
/// Thread: that of the stream.
/// Overlap: one task reads at a time; a second one stops the program with a message. So does destroying or moving the
/// reader while a task reads, and reading from a moved-from reader.
class GYRE_API stream_reader {
 public:
  static constexpr std::size_t default_limit = std::size_t{64} << 10U;

  explicit stream_reader(any_stream stream) : stream_(shared_stream(std::move(stream))) {}
  explicit stream_reader(shared_stream stream) noexcept : stream_(std::move(stream)) {}
  stream_reader(stream_reader&& other) noexcept;
  stream_reader& operator=(stream_reader&& other) noexcept;
  ~stream_reader() { expect_idle(); }

  /// Reads the available data, at least one and at most `max` bytes. Returns an empty string at the end of the stream.
  ///
  /// Cancel: nothing is lost. Errors: the exceptions of the stream.
  [[nodiscard]] task<std::string> read(std::size_t max = default_limit);

  /// Reads exactly `count` bytes.
  ///
  /// Cancel: nothing is lost. Errors: incomplete_transfer when the stream ends too early; the bytes stay, and can be
  /// read.
  [[nodiscard]] task<std::string> read_exactly(std::size_t count);

  /// Reads up to and including `separator`.
  ///
  /// Cancel: nothing is lost. Errors: incomplete_transfer when the stream ends too early; std::errc::message_size when
  /// the separator is not found within `limit` bytes; std::errc::invalid_argument when it is empty. The bytes stay, and
  /// can be read.
  [[nodiscard]] task<std::string> read_until(std::string separator, std::size_t limit = default_limit);
  /// Reads up to and including one of several separators, the one that ends first.
  ///
  /// Cancel: nothing is lost. Errors: same as read_until(); std::errc::invalid_argument also when there are none.
  [[nodiscard]] task<std::string> read_until_any(std::vector<std::string> separators,
                                                 std::size_t limit = default_limit);

  /// Reads the next line, without its end ("\n" or "\r\n"). Returns nothing at the end of the stream. The last line
  /// needs no end.
  ///
  /// Units: `limit` in bytes of the line without its end. Cancel: nothing is lost.
  /// Errors: std::errc::message_size for a line longer than `limit`. The bytes stay, and can be read.
  [[nodiscard]] task<std::optional<std::string>> read_line(std::size_t limit = default_limit);

  /// Waits between two messages, for the next one or for the request to stop. Returns true when there are bytes to
  /// read, also after the request; false at the end of the stream, and when the program has been asked to stop and
  /// nothing has arrived.
  ///
  ///     while (co_await reader.next_or_stop()) {
  ///       const auto line = co_await reader.read_line();
  ///       ...
  ///     }
  ///
  /// A message whose first byte has arrived is thus read to its end. A stream of the program's own takes part if it has
  /// next_or_stop() and has_ended(), see stop_aware_stream.
  /// Cancel: nothing is lost. Errors: the exceptions of the stream.
  [[nodiscard]] task<bool> next_or_stop();

  /// Reads everything up to the end of the stream.
  ///
  /// Cancel: nothing is lost. Errors: std::errc::message_size when that is more than `limit`.
  [[nodiscard]] task<std::string> read_all(std::size_t limit);

  /// True when the stream has ended and the buffer is empty.
  [[nodiscard]] bool at_eof() const noexcept { return buffered() == 0 && ended_; }
  /// The number of bytes that were read from the stream and are still in the buffer.
  [[nodiscard]] std::size_t buffered() const noexcept {
    owner_.check("buffered");
    return buffer_.size() - begin_ - room_;
  }

 private:
  [[nodiscard]] std::string_view rest() const noexcept { return std::string_view(buffer_).substr(begin_, buffered()); }
  [[nodiscard]] std::string take(std::size_t count);
  [[nodiscard]] task<bool> fill(const char* operation);
  [[nodiscard]] bool budget_is_used_up(const char* operation) const noexcept;
  [[nodiscard]] task<> let_others_run();
  void expect_idle() const noexcept;

  shared_stream stream_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t room_ = 0;  // free space at the end of the buffer, during a read
  bool ended_ = false;
  owner_loop_of<"a stream_reader"> owner_;
  bool yields_ = false;  // a task lets others run before it reads
};

}  // namespace gyre
