// gyre/net/udp_socket.hpp: datagrams over IP. udp(7), RFC 768.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/datagram_operations.hpp>
#include <gyre/net/interface_name.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace gyre {

struct udp_options {
  bool reuse_address = false;   ///< several sockets on one port; each gets a copy of multicast
  bool reuse_port = false;      ///< several sockets on one port; the kernel distributes senders among them
  bool only_ipv6 = false;       ///< an IPv6 socket accepts no IPv4 datagrams
  bool broadcast = false;       ///< may send to broadcast addresses
  bool coalesce = false;        ///< datagrams of one sender may arrive combined (UDP_GRO); see segment_size
  int receive_buffer_size = 0;  ///< bytes; 0 means the system's default
  int send_buffer_size = 0;
  interface_name interface = {};  ///< uses only this interface, such as "eth0"
};

/// A UDP socket. asyncio: create_datagram_endpoint.
///
/// Using a moved-from socket stops the program with a message.
/// Lifetime: must be destroyed before its loop.
/// Thread: belongs to that loop. The program is stopped when a task on the loop of another thread waits for an
/// operation on it.
/// Overlap: one task receives and any number send at a time.
class GYRE_API udp_socket {
 public:
  /// Binds to an address. For port 0 the kernel chooses one.
  /// Errors: io_error "udp 127.0.0.1:53: Permission denied"; std::invalid_argument for a negative buffer size.
  [[nodiscard]] static udp_socket bind(const address& local, const udp_options& options = {});
  /// The same for "127.0.0.1:53", "[::]:53", ":0".
  [[nodiscard]] static udp_socket bind(std::string_view local, const udp_options& options = {});
  /// A socket that sends to one peer and receives only from it. The kernel chooses its port.
  /// Errors: io_error "udp 10.0.0.7:53: Network is unreachable".
  [[nodiscard]] static udp_socket connected(const address& peer, const udp_options& options = {});
  /// Takes over a datagram descriptor and makes it non-blocking. Closes it on failure. Errors: io_error.
  [[nodiscard]] static udp_socket from_fd(int fd);

  /// Sets the peer: `send` sends to it, and only its datagrams are received. May be called again.
  /// Errors: io_error. See connect(2).
  void connect(const address& peer);

  /// Sends one datagram to an address. Returns its size.
  ///
  /// Lifetime: `bytes` (and an array of buffers) stay valid until the await returns; the address is copied.
  /// Cancel: not sent; a send that came first wins over the cancel.
  /// Errors: io_error "send_to 10.0.0.7:53, 70000 bytes: Message too long". A connected socket also reports a network
  /// error of an earlier datagram, once. See udp(7).
  [[nodiscard("co_await it")]] datagram_send_op<address> send_to(std::span<const std::byte> bytes GYRE_LIFETIMEBOUND,
                                                                 const address& to) noexcept {
    return {*socket_, bytes, &to, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<address> send_to(std::string_view text GYRE_LIFETIMEBOUND,
                                                                 const address& to) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), &to, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<address> send_to(
      std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND, const address& to) noexcept {
    return {*socket_, buffers, &to};
  }

  /// The same to the peer of a connected socket.
  ///
  /// Lifetime, Cancel: same as send_to. Errors: same as send_to; std::errc::destination_address_required when not
  /// connected.
  [[nodiscard("co_await it")]] datagram_send_op<address> send(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, nullptr, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<address> send(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), nullptr, 0};
  }

  /// Sends bytes as datagrams of `segment_size` bytes each; the last one may be shorter. Needs only a few calls where
  /// the kernel supports that (UDP_SEGMENT). Returns the number of bytes.
  ///
  /// Lifetime: `bytes` stay valid until the await returns. Cancel: the first datagrams may have been sent.
  /// Errors: same as send_to; std::errc::invalid_argument for a segment size of 0.
  [[nodiscard]] task<std::size_t> send_segments(std::span<const std::byte> bytes, std::size_t segment_size, address to);

  /// Receives one datagram into `buffer`.
  ///
  /// Lifetime: `buffer` stays valid until the await returns, even if it is cancelled.
  /// Cancel: no datagram was taken; one that came first wins over the cancel.
  /// Errors: io_error. A connected socket also reports a network error of an earlier send, once ("Connection refused").
  [[nodiscard("co_await it")]] datagram_receive_op<address> receive_from(
      std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer};
  }

  /// Waits for a datagram and lends the buffer that it is in. From the first call on, datagrams are received as they
  /// arrive, up to 64 ahead. This is the fastest way, and a socket that waits here holds no buffer.
  ///
  /// Units: a buffer of the loop takes 152 bytes less than backend_options::buffer_size, 3944 by default. Longer
  /// datagrams are truncated.
  /// Lifetime: the lease must be destroyed before the loop. Cancel: same as receive_from. Errors: same as receive_from.
  [[nodiscard("co_await it")]] datagram_lease_op<address> receive() noexcept {
    return datagram_lease_op<address>(*socket_);
  }

  /// Ends every operation that waits on this socket, with io_error operation_canceled.
  void cancel() noexcept { socket_->cancel_all(); }

  /// Errors: io_error. See getsockname(2), getpeername(2).
  [[nodiscard]] address local_address() const;
  [[nodiscard]] address peer_address() const;

  /// Receives datagrams sent to a multicast group. `interface` is an index; 0 means that the routes decide. Errors:
  /// io_error.
  void join_group(const address& group, std::uint32_t interface = 0);
  void leave_group(const address& group, std::uint32_t interface = 0);
  /// Sets how far multicast goes, and whether this machine receives it too. Errors: io_error. See ip(7), ipv6(7).
  void set_multicast_hops(int hops);
  void set_multicast_loop(bool on);

  /// The descriptor, still owned by the socket; for options without a function here. -1 when the socket was moved from.
  [[nodiscard]] int native_descriptor() const noexcept { return socket_->fd; }

 private:
  explicit udp_socket(datagram_state& socket) noexcept : socket_(&socket) {}

  [[nodiscard]] int open_descriptor(const char* function) const noexcept {
    socket_->expect_open(function);
    return socket_->fd;
  }

  owned<datagram_state*, &datagram_state::abandon, &datagram_state::closed> socket_;
};

}  // namespace gyre
