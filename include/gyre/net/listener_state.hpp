// gyre/net/listener_state.hpp: the state of a listening socket; the movable listener points to it.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/operation.hpp>

#include <cstddef>
#include <expected>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {

class accept_base;
struct loop_share;
struct socket_state;

/// A listening descriptor, the multishot accept on it, and the connections that nobody has taken yet.
struct GYRE_API listener_state : private io::multishot, private timer {
  /// `backlog` is the argument of listen(2).
  listener_state(int fd, std::string bound, int backlog) noexcept;
  /// Has no descriptor: another loop accepts, and gives it the connections of `share`.
  listener_state(loop_share& share, std::string bound) noexcept;

  /// The socket of every listener that was moved from. It looks stopped, and no accept may fail in it. Nothing ever
  /// writes to it.
  static listener_state closed;

  /// The listener is gone: stops, and frees this when the kernel has released the descriptor.
  void abandon() noexcept;
  /// Stops accepting and closes the descriptor. Connections that were accepted but not taken are closed.
  void stop() noexcept;
  /// Takes the connections that the kernel has completed, and closes the descriptor after the last one. Accepts get
  /// these, and then fail with operation_canceled.
  void finish() noexcept;

  /// A new socket with the same address and options, which does not listen yet. Once it does, the kernel spreads
  /// connections over both. `share_port` must have succeeded. Errors: io_error.
  [[nodiscard]] owned_fd open_beside() const;
  /// Makes such a socket a listener of the calling thread's loop. Thread: any. Errors: io_error; std::bad_alloc.
  [[nodiscard]] listener_state& listen_beside(owned_fd bound) const;
  /// Allows others to listen on the same address. Returns false when the kind of socket does not support that.
  [[nodiscard]] bool share_port() const noexcept;

  // For a listener without a descriptor.
  /// Takes a connection. `finish` waits for receive_end().
  void receive_given(int connection) noexcept;
  void receive_end() noexcept;

  std::string name;  // the bound address, for error messages

 private:
  friend class accept_base;
  static constexpr std::size_t max_waiting = 256;  // accepted but not taken; more stay in the backlog
  static constexpr io::monotonic_time pause = 50'000'000;
  static constexpr unsigned max_refused_in_a_row = 16;  // connections lost in accept, before a pause
  static constexpr io::monotonic_time between_messages = 1'000'000'000;

  listener_state() noexcept;
  ~listener_state() = default;
  void expect_own_loop(const char* operation) const noexcept;
  void arm() noexcept;
  void on_connection(int number, std::uint32_t buffer) noexcept;
  void on_complete() noexcept;
  void on_time() noexcept;
  void keep(int connection) noexcept;
  void take_back(int connection) noexcept;
  [[nodiscard]] bool hand_over_to(accept_base& waiter) noexcept;
  void note_shortage() noexcept;
  void pause_accepting(int error) noexcept;
  void serve_waiters() noexcept;
  void take_backlog() noexcept;
  void close_accepted() noexcept;
  void close_descriptor() noexcept;
  void close_when_quiet() noexcept;
  void let_go() noexcept;
  [[nodiscard]] bool has_connection() const noexcept { return next_ < accepted_.size(); }

  static constexpr const char* kind = "a listener";
  const event_loop* loop_ = nullptr;  // the loop it belongs to
  io::descriptor descriptor_;
  std::vector<int> accepted_;
  std::size_t next_ = 0;  // the first of accepted_ that has not been taken
  int failure_ = 0;       // a permanent error
  unsigned refused_in_a_row_ = 0;
  io::monotonic_time silent_until_ = 0;
  unsigned backlog_ = 0;
  bool paused_ = false;
  bool finishing_ = false;  // and paused for ever
  bool ended_ = false;      // of one without a descriptor: no connection will follow
  bool stopped_ = false;
  bool abandoned_ = false;
  loop_share* share_ = nullptr;  // of one without a descriptor
  node_list<accept_base> waiters_;
  std::size_t ended_accepts_ = 0;  // they may still read failure_, or give their connection back
};

/// The common base of accepting on all kinds of sockets.
class GYRE_API accept_base : public operation<accept_base> {
 public:
  enum class result : bool { socket, descriptor };
  explicit accept_base(listener_state& listener, result kind = result::socket) noexcept
      : listener_(&listener), kind_(kind) {}
  accept_base(accept_base&&) noexcept = default;
  ~accept_base();

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return has_connection(); }
  static constexpr bool result_is_granted = true;
  /// The connection becomes the next one of the listener again.
  void give_back() noexcept;

 protected:
  [[nodiscard]] std::expected<socket_state*, std::error_code> take_socket();
  [[nodiscard]] std::expected<owned_fd, std::error_code> take_descriptor();

 private:
  friend struct listener_state;
  friend class node_list<accept_base>;
  void unlink() noexcept;
  void note_end() noexcept;
  [[nodiscard]] bool has_connection() const noexcept { return socket_ != nullptr || static_cast<bool>(descriptor_); }
  [[nodiscard]] std::error_code error() const;

  listener_state* listener_;
  result kind_;
  accept_base* previous = nullptr;  // in the listener's queue
  accept_base* next = nullptr;
  socket_state* socket_ = nullptr;  // the accepted connection, according to the kind
  owned_fd descriptor_;
  bool waiting_ = false;
  bool cancelled_ = false;
  bool ended_ = false;  // counted by the listener, which outlives it
};

/// Waits for a connection, and returns its descriptor, which no loop knows yet. For another loop.
class GYRE_API [[nodiscard("co_await it")]] accept_descriptor_op : public accept_base {
 public:
  explicit accept_descriptor_op(listener_state& listener) noexcept : accept_base(listener, result::descriptor) {}
  std::expected<owned_fd, std::error_code> take_result() { return take_descriptor(); }
  owned_fd await_resume() { return value_or_throw(*this); }
};

/// accept(): waits for a connection.
template <class Stream>
class [[nodiscard("co_await it")]] accept_op : public accept_base {
 public:
  explicit accept_op(listener_state& listener) noexcept : accept_base(listener) {}
  std::expected<Stream, std::error_code> take_result() {
    const auto socket = take_socket();
    if (!socket) return std::unexpected(socket.error());
    return Stream(**socket);
  }
  Stream await_resume() { return value_or_throw(*this); }
};

}  // namespace gyre
