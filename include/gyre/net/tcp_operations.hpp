// gyre/net/tcp_operations.hpp: the awaitables of a tcp_stream. Never spelled by users.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/net/tcp_socket.hpp>

#include <cstddef>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

namespace gyre {

/// The common half of stream operations: the result is taken, or thrown with the operation's name and peer.
template <class Derived>
class stream_operation : public operation<Derived> {
 public:
  auto await_resume() {
    auto outcome = this->self_().take_result();
    if (!outcome) [[unlikely]]
      this->self_().fail(outcome.error());
    if constexpr (!std::is_void_v<typename decltype(outcome)::value_type>) return *std::move(outcome);
  }

 private:
  Derived& self_() noexcept { return static_cast<Derived&>(*this); }
};

/// receive(): waits until a buffer has been filled.
class GYRE_API [[nodiscard("co_await it")]] tcp_receive_op : public stream_operation<tcp_receive_op> {
 public:
  explicit tcp_receive_op(tcp_socket& socket) noexcept : socket_(&socket) {}
  bool try_now() noexcept {
    if (socket_->received.readable()) return true;
    socket_->received.arm();
    return false;
  }
  void start() noexcept;
  std::expected<buffer_lease, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return socket_->received.has_bytes(); }

 private:
  tcp_socket* socket_;
  bool cancelled_ = false;
};

/// read_some() and read_exactly(): fills the caller's buffer with at least `minimum` bytes.
class GYRE_API [[nodiscard("co_await it")]] tcp_read_op : public stream_operation<tcp_read_op>, private io::request {
 public:
  tcp_read_op(tcp_socket& socket, std::span<std::byte> buffer, std::size_t minimum) noexcept
      : socket_(&socket), buffer_(buffer), minimum_(minimum) {}
  tcp_read_op(tcp_read_op&&) noexcept = default;
  ~tcp_read_op() {
    if (where == io::phase::in_flight) misuse("a coroutine was destroyed in the middle of a read");
  }

  bool try_now() noexcept;
  void start() noexcept;
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return done_ > 0 && done_ >= minimum_; }

 private:
  void prepare() noexcept;
  bool take_queued() noexcept;
  bool absorb_result() noexcept;
  void request_ended() noexcept;
  [[nodiscard]] const char* name() const noexcept { return minimum_ > 1 ? "read_exactly" : "read_some"; }

  tcp_socket* socket_;
  std::span<std::byte> buffer_;
  std::size_t minimum_;
  std::size_t done_ = 0;
  int end_ = io::receive_queue::open;  // 0: end of stream, < 0: -errno
  bool cancelled_ = false;
  bool requested_ = false;  // waits for a request of its own, not for the socket's multishot receive
};

/// What all writes share: waiting in the queue of the socket, and what to say at the end.
class GYRE_API tcp_write_base : public stream_operation<tcp_write_base>, public stream_writer {
 public:
  tcp_write_base(tcp_write_base&&) noexcept = default;
  ~tcp_write_base() {
    if (queued) misuse("a coroutine was destroyed in the middle of a write");
  }

  bool try_now() noexcept;
  void start() noexcept;
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return !failure && done == total; }

 private:
  static void cancel_write(cancellable& c) noexcept;
  static void request_ended(io::completion& c) noexcept;
  static void start_next(tcp_socket& socket) noexcept;
  [[nodiscard]] bool finished() const noexcept;

 protected:
  tcp_write_base(tcp_socket& target_socket, std::size_t size, bool some) noexcept {
    socket = &target_socket;
    total = size;
    partial_is_enough = some;
  }
};

/// write_some() and write_all() of one range of bytes.
class GYRE_API [[nodiscard("co_await it")]] tcp_write_op : public tcp_write_base {
 public:
  tcp_write_op(tcp_socket& target_socket, std::span<const std::byte> bytes, bool some) noexcept
      : tcp_write_base(target_socket, bytes.size(), some), bytes_(bytes.data()) {
    code = io::opcode::send;
    prepare = [](stream_writer& w) noexcept {
      auto& self = static_cast<tcp_write_op&>(w);
      const std::size_t left = self.total - self.done;
      self.address = const_cast<std::byte*>(self.bytes_ + self.done);
      self.length = left < most ? static_cast<std::uint32_t>(left) : most;
    };
  }

 private:
  static constexpr std::uint32_t most = 1U << 30U;
  const std::byte* bytes_;
};

/// write_some() and write_all() of several ranges, gathered.
class GYRE_API [[nodiscard("co_await it")]] tcp_write_vector_op : public tcp_write_base {
 public:
  tcp_write_vector_op(tcp_socket& target_socket, std::span<const io::const_buffer> buffers, bool some) noexcept;

 private:
  static void point_at_rest(stream_writer& w) noexcept;

  std::span<const io::const_buffer> buffers_;
  io::const_buffer window_[16];
  io::message message_;
};

/// shutdown_write(): takes its turn behind the writes that are queued.
class GYRE_API [[nodiscard("co_await it")]] tcp_shutdown_op : public tcp_write_base {
 public:
  explicit tcp_shutdown_op(tcp_socket& target_socket) noexcept : tcp_write_base(target_socket, 0, false) {}
  std::expected<void, std::error_code> take_result();
  void await_resume() {
    if (auto outcome = take_result(); !outcome) fail(outcome.error());
  }
};

/// close(): cancels what is in flight and waits until the descriptor is closed.
class GYRE_API [[nodiscard("co_await it")]] tcp_close_op : public operation<tcp_close_op> {
 public:
  static constexpr bool ignores_cancel = true;
  explicit tcp_close_op(tcp_socket* socket) noexcept : socket_(socket) {}
  tcp_close_op(tcp_close_op&& other) noexcept
      : operation(std::move(other)), socket_(std::exchange(other.socket_, nullptr)) {}
  ~tcp_close_op() {
    if (socket_ != nullptr) socket_->abandon();
  }
  bool try_now() noexcept { return socket_ == nullptr; }
  void start() noexcept;
  void await_resume() noexcept;
  void quiet() noexcept { finish_soon(); }

 private:
  tcp_socket* socket_;
};

}  // namespace gyre
