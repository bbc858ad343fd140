// gyre/net/listening_socket.hpp: the state of a listening socket, behind the movable tcp_listener.
// For authors of listeners.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/address.hpp>

#include <cstddef>
#include <expected>
#include <system_error>
#include <vector>

namespace gyre {

class tcp_accept_op;
class tcp_stream;

/// A listening descriptor, the multishot accept on it, and the connections that nobody has asked for yet.
struct GYRE_API listening_socket : private io::multishot, private timer {
  listening_socket(int fd, const gyre::address& bound) noexcept;

  /// The listener is gone: stops, and frees this when the kernel has let go.
  void abandon() noexcept;
  /// Stops accepting and closes the descriptor; connections that were accepted and not taken are closed.
  void stop() noexcept;

  gyre::address local;

 private:
  friend class tcp_accept_op;
  static constexpr std::size_t most_waiting = 256;  // accepted and not taken; more stay in the backlog
  static constexpr io::monotonic_time pause = 50'000'000;

  ~listening_socket() = default;
  void arm() noexcept;
  static void deliver_connection(multishot& m, int result, std::uint32_t buffer) noexcept;
  static void accepted_something(io::completion& c) noexcept;
  void pause_accepting(int error) noexcept;
  void serve_waiters() noexcept;
  void close_when_quiet() noexcept;
  [[nodiscard]] bool has_connection() const noexcept { return next_ < accepted_.size(); }

  io::descriptor descriptor_;
  std::vector<int> accepted_;
  std::size_t next_ = 0;  // accepted_ before it has been taken
  int failure_ = 0;       // an error that will not pass
  bool paused_ = false;
  bool stopped_ = false;
  bool abandoned_ = false;
  tcp_accept_op* first_waiter_ = nullptr;
  tcp_accept_op* last_waiter_ = nullptr;
};

/// accept(): waits for a connection.
class GYRE_API [[nodiscard("co_await it")]] tcp_accept_op : public operation<tcp_accept_op> {
 public:
  explicit tcp_accept_op(listening_socket& listener) noexcept : listener_(&listener) {}
  tcp_accept_op(tcp_accept_op&&) noexcept = default;
  ~tcp_accept_op();

  bool try_now() noexcept;
  void start() noexcept;
  std::expected<tcp_stream, std::error_code> take_result();
  tcp_stream await_resume();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return fd_ >= 0; }

 private:
  friend struct listening_socket;
  void unlink() noexcept;

  listening_socket* listener_;
  tcp_accept_op* next_waiter_ = nullptr;
  int fd_ = -1;
  bool waiting_ = false;
  bool cancelled_ = false;
};

}  // namespace gyre
