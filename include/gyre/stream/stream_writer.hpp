// gyre/stream/stream_writer.hpp: buffers writes, and waits when the buffer is full.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/shared_stream.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gyre {

struct writer_state;

/// The limits of drain: it waits above `high`, until the buffer is down to `low`. Units: bytes.
struct write_limits {
  std::size_t high = std::size_t{64} << 10U;
  std::size_t low = std::size_t{16} << 10U;  ///< above `high` it counts as `high`
};

/// Limits for sending after the writer is destroyed, or in wait_closed. Beyond either limit the connection is aborted.
struct linger_limits {
  std::chrono::nanoseconds time = std::chrono::seconds(30);  ///< a negative time stops the program
  /// Units: bytes.
  std::size_t bytes = std::size_t{64} << 20U;
};

/// Writes to a byte stream through a buffer that is sent in the background. asyncio: StreamWriter.
///
///   writer.write("hello");
///   co_await writer.drain();   // after every write, or nothing limits the buffer
///
/// The next drain, write_eof or wait_closed throws an error of the stream; data written after the error is dropped.
/// The destructor closes as close() does, within `linger_limits`; later errors are not reported. So a peer that never
/// reads does not keep the buffer and the connection for ever.
/// Using a moved-from writer stops the program with a message. So does destroying a writer while a task waits in its
/// drain, flush, write_eof or wait_closed.
/// Thread: that of the stream, and of the loop on which it was made.
class GYRE_API stream_writer {
 public:
  explicit stream_writer(shared_stream stream);
  explicit stream_writer(any_stream stream) : stream_writer(shared_stream(std::move(stream))) {}
  /// Appends to the buffer, and starts to send it. Never waits. Errors: std::bad_alloc; std::logic_error after
  /// write_eof or close.
  void write(std::string_view bytes);
  /// The same for several pieces.
  template <class Lines>
  void write_lines(const Lines& lines) {
    for (const auto& each : lines) write(each);
  }

  /// Waits, if the buffer holds more than the high limit, until no more than the low limit is left.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: the exception of the stream.
  [[nodiscard]] task<> drain();

  /// Waits until everything has been sent.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: the exception of the stream.
  [[nodiscard]] task<> flush();

  /// Sends the buffer, then signals the end of the data to the reader. Reading remains possible.
  ///
  /// Cancel: same as flush(). Errors: the exception of the stream; std::errc::operation_not_supported when it cannot be
  /// half-closed.
  [[nodiscard]] task<> write_eof();

  /// Accepts no more data. The buffer is sent in the background; then the end of the data is signalled to the reader at
  /// the other end. Await wait_closed to wait for that and to get its errors. Reading from the stream remains possible.
  /// If the stream cannot be half-closed, the other end sees the end only when this end's reader is destroyed, too.
  void close() noexcept;

  /// Closes, and waits until everything has been sent and the end of the data was signalled. Returns at once after
  /// abort.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: the exception of the stream.
  [[nodiscard]] task<> wait_closed();
  /// The same with limits. Beyond them the connection is aborted.
  ///
  /// Cancel: stops waiting; the buffer is still sent, without limits.
  /// Errors: same as wait_closed(); timed_out; std::errc::no_buffer_space when more than `limits.bytes` are unsent.
  [[nodiscard]] task<> wait_closed(linger_limits limits);

  /// Drops the buffer and ends the connection at once, in both directions: the peer of a TCP connection gets a reset. A
  /// stream that cannot be aborted (see abortable_stream) is left with a cut-off write. Does not wait. From then on
  /// drain, flush and write_eof fail with operation_canceled.
  void abort() noexcept;

  void set_write_limits(write_limits limits) noexcept;
  /// The limits that apply after this writer is destroyed. start_server observes them when a handler has returned.
  void set_linger_limits(linger_limits limits) noexcept;
  [[nodiscard]] linger_limits lingers() const noexcept;
  /// The number of bytes that were not passed to the stream yet.
  [[nodiscard]] std::size_t buffered() const noexcept;

 private:
  [[nodiscard]] writer_state& used_by(const char* operation) const noexcept;

  static void linger(writer_state* state) noexcept;
  owned<writer_state*, &linger> state_;
};

}  // namespace gyre
