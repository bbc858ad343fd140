// gyre/stream/memory_stream.hpp: an in-process connection with two ends, for tests and for code in one process.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace gyre {

class memory_pipe;

/// One end of a connection in memory. Behaves like a tcp_stream: bounded and half-closable, and whole writes never
/// interleave. When one end is destroyed, a reader at the other end sees the end of the stream, and a writer a broken
/// pipe.
///
/// Operations on a moved-from end stop the program with a message.
/// Thread: both ends belong to the same loop.
/// Overlap: one reader and any number of writers at a time.
class GYRE_API memory_stream {
 public:
  memory_stream() noexcept = default;
  memory_stream(memory_stream&&) noexcept = default;
  memory_stream& operator=(memory_stream&& other) noexcept {
    memory_stream moved(std::move(other));
    std::swap(in_, moved.in_);
    std::swap(out_, moved.out_);
    return *this;
  }

  /// Reads the available data, at least one byte. Returns the count, or 0 at the end of the stream.
  ///
  /// Lifetime: `buffer` must stay valid until the await returns. Cancel: nothing was taken.
  [[nodiscard]] task<std::size_t> read_some(std::span<std::byte> buffer);

  /// Fills the whole buffer. Returns its size.
  ///
  /// Lifetime: same as read_some(). Cancel: nothing is lost. Bytes that were read already are put back, and the next
  /// read gets them.
  /// Errors: incomplete_transfer when the stream ends too early; `transferred()` bytes are then in the buffer.
  [[nodiscard]] task<std::size_t> read_exactly(std::span<std::byte> buffer);

  /// Waits between two messages, for the next one or for the request to stop. Returns true when there are bytes to
  /// read; false at the end of the stream, and when the program has been asked to stop and there are none.
  ///
  /// Cancel: nothing was taken. Errors: io_error connection_reset.
  [[nodiscard]] task<bool> next_or_stop();

  /// Writes all bytes. Waits while the other end has `capacity` unread bytes. Returns the number of bytes.
  ///
  /// Lifetime: `bytes` must stay valid until the await returns. Cancel: the bytes that fitted were written; if that was
  /// only a part, later writes fail with stream_errc::write_cut_off, and the reader sees a reset after these bytes.
  /// Errors: io_error broken_pipe when the other end was destroyed.
  [[nodiscard]] task<std::size_t> write_all(std::span<const std::byte> bytes);

  /// Signals the end of the data to the other end, after all earlier writes.
  ///
  /// Cancel: either done or not done.
  [[nodiscard]] task<> shutdown_write();

  /// After next_or_stop() has returned false: true when the stream has ended, rather than the request to stop has come.
  [[nodiscard]] bool has_ended() const noexcept;

  /// Ends the connection at once. Reads fail with connection_reset and writes with broken_pipe, at both ends. Bytes
  /// that this end has not read are dropped. The other end first reads the bytes that were written to it, as the peer
  /// of a TCP connection reads data that had arrived. Bytes of a write that still waits are lost. No-op on a moved-from
  /// end.
  void abort() noexcept;

 private:
  friend struct memory_pair;
  memory_stream(memory_pipe& in, memory_pipe& out) noexcept : in_(&in), out_(&out) {}
  static void leave_as_reader(memory_pipe* pipe) noexcept;
  static void leave_as_writer(memory_pipe* pipe) noexcept;
  owned<memory_pipe*, &leave_as_reader> in_;
  owned<memory_pipe*, &leave_as_writer> out_;  // last: destroyed first, as the peer reads what was written
};

/// Both ends: bytes written to one are read from the other.
struct GYRE_API memory_pair {
  /// Units: `capacity` is the number of unread bytes allowed in each direction, at least 1. Errors: std::bad_alloc.
  explicit memory_pair(std::size_t capacity = std::size_t{64} << 10U);

  memory_stream first;
  memory_stream second;
};

static_assert(half_closable_stream<memory_stream>);

}  // namespace gyre
