// gyre/net/socket_operations.hpp: the awaitables of connected sockets. For authors of operations.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/socket_state.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

namespace gyre {

/// receive(): waits until a buffer has been filled.
class GYRE_API [[nodiscard("co_await it")]] socket_receive_op : public operation<socket_receive_op> {
 public:
  explicit socket_receive_op(socket_state& socket) noexcept : socket_(&socket) {}
  bool try_now() noexcept {
    if (socket_->waiting_reader != nullptr || !socket_->received.readable()) return false;
    if constexpr (checks_everything) socket_->expect_own_loop("receive");
    return true;
  }
  void start() noexcept;
  void on_cancel() noexcept;
  buffer_lease await_resume();
  std::expected<buffer_lease, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return socket_->received.has_bytes(); }

 private:
  void on_cancelled() noexcept;

  socket_state* socket_;
  bool cancelled_ = false;
};

/// read_some() and read_exactly(): fills the caller's buffer, `exactly` or with at least one byte. Where the bytes come
/// from decides which function continues it (socket_state::reading):
///
///   it is       bytes come from                 continued by                  a cancel
///   begun       `received`, or an attempt       try_now                       (has not started)
///   copies      `received`, which is armed      take_queued, for the socket   stop_waiting: `cancelled`
///   directly    its own request, in flight      on_complete                   asks the backend: on_complete
///   cancelled   nowhere, it is in the ready     on_complete                   no effect
///               queue
///
/// A cancelled read_exactly puts back what it has read (take_result).
class GYRE_API [[nodiscard("co_await it")]] socket_read_op : public operation<socket_read_op, io::request> {
 public:
  socket_read_op(socket_state& socket, std::span<std::byte> buffer, bool exactly) noexcept
      : buffer_(buffer), exactly_(exactly) {
    code = io::opcode::receive_into;
    target = &socket.descriptor();
  }
  socket_read_op(socket_read_op&&) noexcept = default;
  ~socket_read_op() { expect_ended(*this, "in the middle of a read"); }

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  std::size_t await_resume();
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return done_ > 0 && has_enough(); }
  [[nodiscard]] const char* name() const noexcept { return exactly_ ? "read_exactly" : "read_some"; }

 private:
  friend struct socket_state;
  void prepare() noexcept;
  bool read_now() noexcept;
  bool take_queued() noexcept;
  bool absorb_result() noexcept;
  [[nodiscard]] bool has_enough() const noexcept { return done_ == buffer_.size() || (done_ > 0 && !exactly_); }

  std::span<std::byte> buffer_;
  std::size_t done_ = 0;
  int end_ = io::receive_queue::open;  // 0: end of stream, < 0: -errno
  bool exactly_;
  bool cancelled_ = false;
};

/// The data of a write, which determines its class.
enum class write_kind : std::uint8_t {
  bytes,        ///< socket_write_op
  buffers,      ///< socket_write_vector_op
  descriptors,  ///< send_descriptors_op
  file,         ///< send_file_op
  pipe,         ///< socket_bulk_write_op, unless its piece is in a buffer
  shutdown,     ///< socket_shutdown_op, which sends nothing
};

/// The common base of writes: each waits its turn in the queue of the socket and runs to its end.
class GYRE_API socket_write_base : public operation<socket_write_base, io::request> {
 public:
  socket_write_base(socket_write_base&&) noexcept = default;
  ~socket_write_base() {
    if (queued_) misuse("a coroutine was destroyed in the middle of a write; cancel and await it first");
  }

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept { step_ended(result); }
  std::size_t await_resume() {
    if (fully_succeeded()) [[likely]]
      return done_;
    return result_or_throw();
  }
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return error_ == 0 && !stopped_ && done_ == total_; }
  [[nodiscard]] const char* name() const noexcept;

 protected:
  /// `some`: ends after the first bytes.
  socket_write_base(socket_state& socket, write_kind kind, std::size_t size, bool some = false) noexcept
      : total_(size), kind_(kind), some_(some) {
    code = kind == write_kind::bytes                              ? io::opcode::send
           : kind == write_kind::file || kind == write_kind::pipe ? io::opcode::wait_writable
                                                                  : io::opcode::send_message;
    target = &socket.descriptor();
  }
  [[nodiscard]] std::size_t done() const noexcept { return done_; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// Called with the number of bytes that the kernel has processed, or -errno. Continues with the rest, or with the
  /// next write.
  void step_ended(int outcome) noexcept;
  void skip(std::size_t count) noexcept { done_ += count; }
  /// Fails with this errno before the write begins.
  void refuse(int reason) noexcept { error_ = reason; }

 private:
  friend struct socket_state;
  static void start_next(socket_state& socket) noexcept;
  void submit_rest() noexcept;
  [[nodiscard]] bool transfer_now() noexcept;
  void prepare() noexcept;
  void advance(std::size_t count) noexcept;
  void shut_down() noexcept;
  [[nodiscard]] bool finished() const noexcept;
  std::size_t result_or_throw();

  socket_write_base* next_writer_ = nullptr;

 protected:
  std::size_t total_;

 private:
  std::size_t done_ = 0;
  int error_ = 0;  // errno, or -1 when an earlier write was cut off
  write_kind kind_;
  bool some_;
  bool queued_ = false;
  bool stopped_ = false;  // cancelled: ends after the request in flight
};

/// write_some() and write_all() of one span of bytes.
class GYRE_API [[nodiscard("co_await it")]] socket_write_op : public socket_write_base {
 public:
  socket_write_op(socket_state& socket, std::span<const std::byte> bytes, bool some) noexcept
      : socket_write_base(socket, write_kind::bytes, bytes.size(), some) {
    address = const_cast<std::byte*>(bytes.data());
  }
};

/// write_some() and write_all() of several buffers, gathered.
class GYRE_API [[nodiscard("co_await it")]] socket_write_vector_op : public socket_write_base {
 public:
  socket_write_vector_op(socket_state& socket, std::span<const io::const_buffer> buffers, bool some) noexcept;

 private:
  friend class socket_write_base;
  void point_at_rest() noexcept;

  std::span<const io::const_buffer> buffers_;
  io::message message_;
  io::const_buffer window_[16];
};

/// shutdown_write(): waits its turn after the queued writes.
class GYRE_API [[nodiscard("co_await it")]] socket_shutdown_op : public socket_write_base {
 public:
  explicit socket_shutdown_op(socket_state& socket) noexcept : socket_write_base(socket, write_kind::shutdown, 0) {}
  std::expected<void, std::error_code> take_result();
  void await_resume() { (void)socket_write_base::await_resume(); }
};

/// close(): cancels the operations in flight and waits until the descriptor is closed.
class GYRE_API [[nodiscard("co_await it")]] socket_close_op : public operation<socket_close_op> {
 public:
  static constexpr bool ignores_cancel = true;
  explicit socket_close_op(socket_state* socket) noexcept : socket_(socket) {}
  bool try_now() noexcept { return socket_ == nullptr; }
  void start() noexcept;
  void on_cancel() noexcept {}
  void await_resume() noexcept;
  void quiet() noexcept { finish_soon(); }

 private:
  owned<socket_state*, &socket_state::abandon> socket_;
};

}  // namespace gyre
