// gyre/net/datagram_socket.hpp: the functions common to UDP sockets and Unix datagram sockets.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/net/datagram_operations.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace gyre {

/// A socket that sends and receives datagrams; udp_socket and unix_datagram derive from it.
///
/// Using a moved-from socket stops the program with a message.
/// Lifetime: must be destroyed before its loop.
/// Thread: belongs to that loop. The program is stopped when a task on the loop of another thread waits for an
/// operation on it.
/// Overlap: one task receives and any number send at a time.
template <class Address>
class datagram_socket {
 public:
  /// Sends one datagram to an address. Returns its size. Waits while there is no room for it.
  ///
  /// Lifetime: `bytes` (and an array of buffers) stay valid until the await returns; the address is copied.
  /// Cancel: not sent; a send that came first wins over the cancel.
  /// Errors: io_error "send_to 10.0.0.7:53, 70000 bytes: Message too long", "send_to /run/x: Connection refused". A
  /// connected UDP socket also reports a network error of an earlier datagram, once. See udp(7).
  [[nodiscard("co_await it")]] datagram_send_op<Address> send_to(std::span<const std::byte> bytes GYRE_LIFETIMEBOUND,
                                                                 const Address& to) noexcept {
    return {*socket_, bytes, &to, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<Address> send_to(std::string_view text GYRE_LIFETIMEBOUND,
                                                                 const Address& to) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), &to, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<Address> send_to(
      std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND, const Address& to) noexcept {
    return {*socket_, buffers, &to};
  }

  /// The same to the peer of a connected socket.
  ///
  /// Lifetime, Cancel: same as send_to. Errors: same as send_to; std::errc::destination_address_required when not
  /// connected.
  [[nodiscard("co_await it")]] datagram_send_op<Address> send(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, nullptr, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<Address> send(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), nullptr, 0};
  }

  /// Receives one datagram into `buffer`.
  ///
  /// Lifetime: `buffer` stays valid until the await returns, even if it is cancelled.
  /// Cancel: no datagram was taken; one that came first wins over the cancel.
  /// Errors: io_error. A connected UDP socket also reports a network error of an earlier send, once ("Connection
  /// refused").
  [[nodiscard("co_await it")]] datagram_receive_op<Address> receive_from(
      std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer};
  }

  /// Waits for a datagram and lends the buffer that it is in. From the first call on, datagrams are received as they
  /// arrive, up to 64 ahead. This is the fastest way, and a socket that waits here holds no buffer.
  ///
  /// Units: a buffer of the loop takes 152 bytes less than backend_options::buffer_size, 3944 by default. Longer
  /// datagrams are truncated.
  /// Lifetime: the lease must be destroyed before the loop. Cancel: same as receive_from. Errors: same as receive_from.
  [[nodiscard("co_await it")]] datagram_lease_op<Address> receive() noexcept {
    return datagram_lease_op<Address>(*socket_);
  }

  /// Ends every operation that waits on this socket, with io_error operation_canceled.
  void cancel() noexcept { socket_->cancel_all(); }

  /// The descriptor, still owned by the socket; for options without a function here. -1 when the socket was moved from.
  [[nodiscard]] int native_descriptor() const noexcept { return socket_->fd; }

 protected:
  explicit datagram_socket(datagram_state& socket) noexcept : socket_(&socket) {}

  owned<datagram_state*, &datagram_state::abandon, &datagram_state::closed> socket_;
};

}  // namespace gyre
