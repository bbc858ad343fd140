// gyre/stream/memory_stream.hpp: two ends of a connection without a kernel, for tests and for code in one process.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace gyre {

class memory_pipe;

/// One end of a connection in memory. Behaves as a tcp_stream: bounded, half-closable; whole writes never interleave; an end
/// that is destroyed is an end of stream for the reader and a broken pipe for the writer at the other side.
///
/// Operations on an end that was moved from stop the program with a sentence.
/// Thread: belongs to one loop; both ends to the same.
/// Overlap: one reader and any number of writers at a time.
class GYRE_API memory_stream {
 public:
  memory_stream() noexcept = default;
  memory_stream(memory_stream&& other) noexcept
      : in_(std::exchange(other.in_, nullptr)), out_(std::exchange(other.out_, nullptr)) {}
  memory_stream& operator=(memory_stream&& other) noexcept {
    memory_stream moved(std::move(other));
    std::swap(in_, moved.in_);
    std::swap(out_, moved.out_);
    return *this;
  }
  ~memory_stream();

  /// Reads what has arrived, at least one byte. Gives the count; 0 at the end of the stream.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing was taken.
  [[nodiscard]] task<std::size_t> read_some(std::span<std::byte> buffer);

  /// Fills the whole buffer. Gives its size.
  ///
  /// Lifetime: as read_some. Cancel: nothing is lost: bytes that were read already are put back, and the next read gets them.
  /// Errors: incomplete_transfer when the stream ends before; `transferred()` bytes are in the buffer then.
  [[nodiscard]] task<std::size_t> read_exactly(std::span<std::byte> buffer);

  /// Writes all bytes; waits while the other side has `capacity` of them unread. Gives their number.
  ///
  /// Lifetime: `bytes` stay valid until the await returns. Cancel: what fitted was written; when that was only a part,
  /// later writes fail with stream_errc::write_cut_off. Errors: io_error broken_pipe when the other end is gone.
  [[nodiscard]] task<std::size_t> write_all(std::span<const std::byte> bytes);

  /// Tells the other side that no more will come, when the writes before have been done.
  ///
  /// Cancel: done or not done.
  [[nodiscard]] task<> shutdown_write();

  /// Ends the connection at once. Reads fail with connection_reset and writes with broken_pipe, at both ends. Bytes
  /// that this end has not read are dropped. The other end first reads those that were written to it, as the peer of a
  /// TCP connection reads what had arrived; bytes that a write still waits to write are lost. Does nothing when it was
  /// moved from.
  void abort() noexcept;

 private:
  friend struct memory_pair;
  memory_stream(memory_pipe& in, memory_pipe& out) noexcept : in_(&in), out_(&out) {}
  memory_pipe* in_ = nullptr;
  memory_pipe* out_ = nullptr;
};

/// Both ends: what is written to one is read from the other.
struct GYRE_API memory_pair {
  /// Units: `capacity` bytes each way that may be written and not yet read, at least 1. Errors: std::bad_alloc.
  explicit memory_pair(std::size_t capacity = std::size_t{64} << 10U);

  memory_stream first;
  memory_stream second;
};

static_assert(half_closable_stream<memory_stream>);

}  // namespace gyre
