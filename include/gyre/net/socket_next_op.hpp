// gyre/net/socket_next_op.hpp: waits for the next message of a connection, or for the request to stop.
// For authors of operations.
#pragma once

#include <gyre/loop/stop_observer.hpp>
#include <gyre/net/socket_state.hpp>

#include <expected>
#include <system_error>

namespace gyre {

/// next_or_stop(): waits until something has arrived, or the connection is asked to end between two messages: by its
/// server, or, without a server, by the request to stop. Takes nothing from the socket.
class GYRE_API [[nodiscard("co_await it")]] socket_next_op : public operation<socket_next_op>, private stop_observer {
 public:
  explicit socket_next_op(socket_state& socket) noexcept : socket_(&socket) {}
  // Only before it has started, when there is nothing to move but the socket.
  socket_next_op(socket_next_op&& from) noexcept : socket_(from.socket_) {}
  socket_next_op& operator=(socket_next_op&&) = delete;
  ~socket_next_op() { stop_observing(); }

  bool try_now() noexcept {
    if (socket_->waiting_reader != nullptr || !socket_->received.readable()) return false;
    if constexpr (checks_everything) socket_->expect_own_loop("next_or_stop");
    return true;
  }
  void start() noexcept;
  void on_cancel() noexcept;
  bool await_resume() {
    if (socket_->received.has_bytes()) [[likely]]
      return true;
    return value_or_throw(*this);
  }
  std::expected<bool, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return socket_->received.has_bytes(); }
  /// Ends the wait of a started operation. A message that has arrived already still ends it first, even if the loop has
  /// not seen the message yet.
  void stop() noexcept;
  /// Its wait is over, although its result may never be taken.
  void stop_observing() noexcept {
    if (listed) [[unlikely]]
      remove_from_observers();
  }

 private:
  enum class end : std::uint8_t { none, stopped, cancelled };

  void on_level(stop_level level) noexcept;
  void remove_from_observers() noexcept;
  void end_early(end why) noexcept;
  void on_ended_early() noexcept;

  socket_state* socket_;
  end ended_ = end::none;  // the reason why it stopped waiting, if it did
};

}  // namespace gyre
