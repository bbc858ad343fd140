// gyre/stream/stream_writer.hpp: writing without waiting, and waiting when too much has gathered.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/shared_stream.hpp>

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

/// Writes to a byte stream through a buffer that is sent in the background. asyncio: StreamWriter.
///
///   writer.write("hello");
///   co_await writer.drain();   // after every write, or nothing limits the buffer
///
/// An error of the stream is thrown by the next drain, write_eof or wait_closed; what was written after it is dropped.
/// Destroyed without close: what is in the buffer is still sent, in the background.
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

  /// Sends what is in the buffer, then tells the reader that this was all.
  ///
  /// Cancel: as flush. Errors: what the stream threw.
  [[nodiscard]] task<> write_eof();

  /// Takes no more; what is in the buffer is sent in the background. Await wait_closed to know when, and how it went.
  void close() noexcept;

  /// Waits, after close, until everything has been sent.
  ///
  /// Cancel: stops waiting. Errors: what the stream threw.
  [[nodiscard]] GYRE_CORO_WRAPPER task<> wait_closed() { return flush(); }

  void set_write_limits(write_limits limits) noexcept;
  /// Bytes that have not been given to the stream yet.
  [[nodiscard]] std::size_t buffered() const noexcept;
  [[nodiscard]] bool is_closing() const noexcept;

 private:
  writer_state* state_;
};

}  // namespace gyre
