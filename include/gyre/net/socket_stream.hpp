// gyre/net/socket_stream.hpp: the base of all streams over connected sockets.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/net/bulk.hpp>
#include <gyre/net/send_file.hpp>
#include <gyre/net/socket_next_op.hpp>
#include <gyre/net/socket_operations.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace gyre {

/// A connected socket as a stream of bytes; tcp_stream and unix_stream derive from it. The destructor closes it.
///
/// Reading, writing and setting options stop the program with a message when the stream is closed or was moved from;
/// `close` and `cancel` are then no-ops.
/// Lifetime: must be destroyed before its loop.
/// Thread: belongs to that loop. The program is stopped when a task on the loop of another thread waits for an
/// operation on it; debug builds and builds with a sanitizer also stop it for operations that need not wait.
/// Overlap: one reader and any number of writers at a time; whole writes never interleave.
class GYRE_API socket_stream {
 public:
  /// Reads the bytes that have arrived, at least one. Returns the count, or 0 at the end of the stream.
  ///
  /// Lifetime: `buffer` stays valid until the await returns, even if it is cancelled.
  /// Cancel: nothing was taken from the socket; bytes that came first win over the cancel.
  /// Errors: io_error "read_some 10.0.0.7:443: Connection reset by peer". See recv(2).
  [[nodiscard("co_await it")]] socket_read_op read_some(std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer, false};
  }
  [[nodiscard("co_await it")]] socket_read_op read_some(std::span<char> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_writable_bytes(buffer), false};
  }

  /// Fills the whole buffer. Returns its size.
  ///
  /// Lifetime: same as read_some.
  /// Cancel: nothing is lost. Bytes that were already read are put back, and the next read gets them.
  /// Errors: incomplete_transfer when the stream ends first; `transferred()` bytes are then in the buffer.
  [[nodiscard("co_await it")]] socket_read_op read_exactly(std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer, true};
  }
  [[nodiscard("co_await it")]] socket_read_op read_exactly(std::span<char> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_writable_bytes(buffer), true};
  }

  /// Waits for bytes and lends the buffer that they are in. Returns an empty lease at the end of the stream. A
  /// connection that waits here holds no buffer: this is the fastest way to read on a server.
  ///
  /// Lifetime: the lease must be destroyed before the loop.
  /// Cancel: nothing was taken; bytes that arrive are kept for the next read. Errors: same as read_some.
  [[nodiscard("co_await it")]] socket_receive_op receive() noexcept { return socket_receive_op(*socket_); }

  /// Waits between two messages, for the next one or for the request to stop. Returns true when bytes have arrived,
  /// also after the request; false at the end of the stream, and when the request has come and nothing has arrived.
  /// Takes nothing from the stream: read the message with another function, other than receive_descriptors(), because
  /// this reads ahead, as receive() does. An idle connection holds no buffer.
  ///
  ///     while (co_await peer.next_or_stop()) {
  ///       const auto n = co_await peer.read_some(buffer);
  ///       co_await peer.write_all(std::span(buffer).first(n));
  ///     }
  ///
  /// In a handler of serve(), the server ends the wait when it drains, after a stop request or a cancel. Elsewhere, the
  /// stop request of the program ends it. A program in which a task has waited here is not cancelled by the request
  /// (see stop_requested).
  /// Cancel: nothing was taken. Errors: same as read_some.
  [[nodiscard("co_await it")]] socket_next_op next_or_stop() noexcept { return socket_next_op(*socket_); }

  /// After next_or_stop() has returned false: true when the stream has ended, rather than the request to stop has come.
  [[nodiscard]] bool has_ended() const noexcept { return socket_->received.end() != io::receive_queue::open; }

  /// Writes some of the bytes, at least one. Returns the count.
  ///
  /// Lifetime: `bytes` stay valid until the await returns.
  /// Cancel: nothing was written; a count that came first wins over the cancel. Errors: io_error. See send(2).
  [[nodiscard("co_await it")]] socket_write_op write_some(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, true};
  }
  [[nodiscard("co_await it")]] socket_write_op write_some(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), true};
  }
  [[nodiscard("co_await it")]] socket_write_vector_op write_some(
      std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffers, true};
  }

  /// Writes all bytes. Returns their number. Waits for earlier writes of other tasks; no other write comes in between.
  ///
  /// Lifetime: `bytes` (and the array of buffers) stay valid until the await returns.
  /// Cancel: nothing was written, or the write was cut off in the middle. After that the stream accepts no more writes
  /// (stream_errc::write_cut_off), because the peer would read them as the rest of this one, and a TCP connection ends
  /// with a reset when the stream is closed, so that the peer does not take a part for the whole. Errors: io_error;
  /// incomplete_transfer with the count that was written before.
  [[nodiscard("co_await it")]] socket_write_op write_all(std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, false};
  }
  [[nodiscard("co_await it")]] socket_write_op write_all(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), false};
  }
  [[nodiscard("co_await it")]] socket_write_vector_op write_all(
      std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffers, false};
  }

  /// Sends `count` bytes of an open regular file from `offset` on, without copying them through this program. Returns
  /// the count, which is smaller only if the file ends first. Waits for earlier writes of other tasks; no other write
  /// comes in between.
  ///
  /// Lifetime: `file`, a descriptor such as fs::file's, stays open until the await returns.
  /// Cancel: same as write_all. Errors: same as write_all; EINVAL when the descriptor is not a file that can be sent.
  /// See sendfile(2).
  [[nodiscard("co_await it")]] send_file_op send_file(int file, std::uint64_t offset, std::size_t count) noexcept {
    return {*socket_, file, offset, count};
  }

  /// Tells the peer that nothing more will be written, after the queued writes are done. Reading continues. See
  /// shutdown(2), RFC 9293 §3.6.
  ///
  /// Cancel: done or not done, never half. Errors: io_error. When the peer has already left, shutdown(2) fails with
  /// ENOTCONN; that is not an error here, because nobody is left to tell.
  [[nodiscard("co_await it")]] socket_shutdown_op shutdown_write() noexcept { return socket_shutdown_op(*socket_); }

  /// Closes, and returns when the descriptor is closed. Operations that still wait fail with operation_canceled.
  /// Destroying the stream closes without waiting, and stops the program when an operation still waits.
  ///
  /// Cancel: ignored; closing takes no longer than the kernel needs to release the descriptor.
  [[nodiscard("co_await it")]] socket_close_op close() noexcept {
    return socket_close_op(is_open() ? socket_.release() : nullptr);
  }

  /// Ends every operation that waits on this stream, in any task, with io_error operation_canceled.
  void cancel() noexcept {
    if (!is_open()) return;
    socket_->expect_own_loop("cancel");
    socket_->cancel_all();
  }

  /// Ends the connection at once. Bytes that the peer has not received are dropped, and a TCP peer gets a reset.
  /// Waiting and later operations fail with connection_reset or broken_pipe, reads after the bytes that had been
  /// received. The descriptor stays open until the stream is closed. The peer of a Unix socket sees the end of the
  /// stream. Does nothing when the stream is closed.
  void abort() noexcept;

  /// Sets an option, see socket(7). Units: bytes. Errors: io_error with the option's name.
  void set_send_buffer_size(int bytes);
  void set_receive_buffer_size(int bytes);

  /// False for a stream that was moved from or closed.
  [[nodiscard]] bool is_open() const noexcept { return socket_ != &socket_state::closed; }
  /// The descriptor, still owned by the stream; for options without a function here. -1 when the stream is closed.
  [[nodiscard]] int native_descriptor() const noexcept { return socket_->fd; }
  [[nodiscard]] socket_state& socket() const noexcept { return *socket_; }

 protected:
  socket_stream() noexcept = default;
  explicit socket_stream(socket_state& socket) noexcept : socket_(&socket) {}
  socket_stream(socket_stream&&) noexcept = default;
  socket_stream& operator=(socket_stream&&) noexcept = default;
  ~socket_stream() = default;

  void set_option(int level, int option, int value, const char* name) const;

  owned<socket_state*, &socket_state::abandon, &socket_state::closed> socket_;
};

}  // namespace gyre
