// gyre/stream/stream_writer.hpp: writing without waiting, and waiting when too much has gathered.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/shared_stream.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gyre {

struct writer_state;

/// When drain makes the producer wait, and until when. Units: bytes.
struct write_limits {
  std::size_t high = std::size_t{64} << 10U;
  std::size_t low = std::size_t{16} << 10U;
};

/// What a writer that is gone, or wait_closed with limits, may still send. Beyond either limit the connection is aborted.
struct linger_limits {
  std::chrono::nanoseconds time = std::chrono::seconds(30);
  /// Units: bytes.
  std::size_t bytes = std::size_t{64} << 20U;
};

/// Writes to a byte stream through a buffer that is sent in the background. asyncio: StreamWriter.
///
///   writer.write("hello");
///   co_await writer.drain();   // after every write, or nothing limits the buffer
///
/// An error of the stream is thrown by the next drain, write_eof or wait_closed; what was written after it is dropped.
/// Destroyed: as close(), within `linger_limits`; nobody hears of an error then. So a peer that never reads does not keep the
/// buffer and the connection for ever.
/// Using a writer that was moved from stops the program with a sentence, and so does destroying one while a task waits
/// in its drain, flush, write_eof or wait_closed.
/// Thread: that of the stream, and of the loop that it was made on.
class GYRE_API stream_writer {
 public:
  explicit stream_writer(shared_stream stream);
  explicit stream_writer(any_stream stream) : stream_writer(shared_stream(std::move(stream))) {}
  stream_writer(stream_writer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  stream_writer& operator=(stream_writer&& other) noexcept {
    stream_writer moved(std::move(other));
    std::swap(state_, moved.state_);
    return *this;
  }
  ~stream_writer();

  /// Adds to the buffer, and begins to send it. Never waits. Errors: std::bad_alloc; std::logic_error after write_eof or
  /// close.
  void write(std::string_view bytes);
  /// The same for several pieces.
  template <class Lines>
  void write_lines(const Lines& lines) {
    for (const auto& each : lines) write(each);
  }

  /// Waits, when more than the high limit is in the buffer, until no more than the low limit is left.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: what the stream threw.
  [[nodiscard]] task<> drain();

  /// Waits until everything has been sent.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: what the stream threw.
  [[nodiscard]] task<> flush();

  /// Sends what is in the buffer, then tells the reader that this was all. Reading goes on.
  ///
  /// Cancel: as flush. Errors: what the stream threw; std::errc::operation_not_supported when it cannot be half-closed.
  [[nodiscard]] task<> write_eof();

  /// Takes no more. What is in the buffer is sent in the background, and then the reader at the other side is told that this was
  /// all. Await wait_closed to know when, and how it went. Reading from the stream goes on. The end of a stream that cannot be
  /// half-closed is seen when its own reader, too, is gone.
  void close() noexcept;

  /// Closes, and waits until everything has been sent and the reader at the other side has been told. Returns at once after
  /// abort.
  ///
  /// Cancel: stops waiting; the buffer is still sent. Errors: what the stream threw.
  [[nodiscard]] task<> wait_closed();
  /// The same with limits: beyond them the connection is aborted.
  ///
  /// Cancel: stops waiting; the buffer is still sent, without limits.
  /// Errors: as wait_closed; timed_out; std::errc::no_buffer_space when more than `limits.bytes` wait.
  [[nodiscard]] task<> wait_closed(linger_limits limits);

  /// Drops the buffer and ends the connection at once, in both directions: the peer of a TCP connection gets a reset. A stream that
  /// cannot be aborted (see abortable_stream) is left with a write that was cut off. Waits for nothing. drain, flush and
  /// write_eof fail with operation_canceled from then on.
  void abort() noexcept;

  void set_write_limits(write_limits limits) noexcept;
  /// For the time after this writer is destroyed; start_server keeps to them when a handler has returned.
  void set_linger_limits(linger_limits limits) noexcept;
  [[nodiscard]] linger_limits lingers() const noexcept;
  /// Bytes that have not been given to the stream yet.
  [[nodiscard]] std::size_t buffered() const noexcept;
  [[nodiscard]] bool is_closing() const noexcept;

 private:
  [[nodiscard]] writer_state& used_by(const char* operation) const noexcept;

  writer_state* state_;
};

}  // namespace gyre
