// gyre/net/unix_datagram.hpp: datagrams between processes of one machine. unix(7).
#pragma once

#include <gyre/net/datagram_operations.hpp>
#include <gyre/net/unix_address.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace gyre {

struct unix_datagram_pair;

/// A Unix datagram socket. Nothing is lost or reordered; a sender waits while the receiver is full. The destructor
/// removes the file that the socket is bound to.
///
/// Using a moved-from socket stops the program with a message.
/// Lifetime: must be destroyed before its loop.
/// Thread: belongs to that loop. The program is stopped when a task on the loop of another thread waits for an
/// operation on it.
/// Overlap: one task receives and any number send at a time.
class GYRE_API unix_datagram {
 public:
  /// Binds to a path or an abstract name. Errors: io_error "unix_datagram /run/x: Address already in use".
  [[nodiscard]] static unix_datagram bind(const unix_address& local);
  /// An unnamed socket that sends to one peer. Errors: io_error.
  [[nodiscard]] static unix_datagram connected(const unix_address& peer);
  /// Makes two connected sockets. Errors: io_error. See socketpair(2).
  [[nodiscard]] static unix_datagram_pair pair();

  unix_datagram(unix_datagram&& other) noexcept
      : socket_(std::exchange(other.socket_, &datagram_state::closed)), local_(std::exchange(other.local_, {})) {}
  unix_datagram& operator=(unix_datagram&& other) noexcept {
    unix_datagram moved(std::move(other));
    std::swap(socket_, moved.socket_);
    std::swap(local_, moved.local_);
    return *this;
  }
  ~unix_datagram();

  /// Sends one datagram to an address. Returns its size. Waits while the receiver is full.
  ///
  /// Lifetime: `bytes` stay valid until the await returns; the address is copied.
  /// Cancel: not sent; a send that came first wins over the cancel.
  /// Errors: io_error "send_to /run/x: Connection refused".
  [[nodiscard("co_await it")]] datagram_send_op<unix_address> send_to(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND, const unix_address& to) noexcept {
    return {*socket_, bytes, &to, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<unix_address> send_to(std::string_view text GYRE_LIFETIMEBOUND,
                                                                      const unix_address& to) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), &to, 0};
  }
  /// The same to the peer of a connected socket.
  ///
  /// Lifetime: same as send_to. Cancel: same as send_to. Errors: same as send_to.
  [[nodiscard("co_await it")]] datagram_send_op<unix_address> send(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, nullptr, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<unix_address> send(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), nullptr, 0};
  }

  /// Receives one datagram into `buffer`.
  ///
  /// Lifetime: `buffer` stays valid until the await returns, even if it is cancelled.
  /// Cancel: no datagram was taken; one that came first wins over the cancel. Errors: io_error.
  [[nodiscard("co_await it")]] datagram_receive_op<unix_address> receive_from(
      std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer};
  }
  /// Waits for a datagram and lends the buffer that it is in; see udp_socket::receive.
  ///
  /// Lifetime: the lease must be destroyed before the loop. Cancel: same as receive_from. Errors: same as receive_from.
  [[nodiscard("co_await it")]] datagram_lease_op<unix_address> receive() noexcept {
    return datagram_lease_op<unix_address>(*socket_);
  }

  /// Ends every operation that waits on this socket, with io_error operation_canceled.
  void cancel() noexcept { socket_->cancel_all(); }
  [[nodiscard]] const unix_address& local_address() const noexcept { return local_; }
  /// The descriptor, still owned by the socket; -1 when the socket was moved from.
  [[nodiscard]] int native_descriptor() const noexcept { return socket_->fd; }

 private:
  unix_datagram(datagram_state& socket, const unix_address& local) noexcept : socket_(&socket), local_(local) {}

  datagram_state* socket_;
  unix_address local_;
};

struct unix_datagram_pair {
  unix_datagram first;
  unix_datagram second;
};

}  // namespace gyre
