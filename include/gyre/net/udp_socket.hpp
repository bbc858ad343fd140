// gyre/net/udp_socket.hpp: datagrams over IP. udp(7), RFC 768.
#pragma once

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
  bool reuse_address = false;   ///< several sockets on one port: of multicast each gets a copy
  bool reuse_port = false;      ///< several sockets on one port, among which the kernel spreads senders
  bool only_ipv6 = false;       ///< an IPv6 socket takes no IPv4 datagrams
  bool broadcast = false;       ///< may send to broadcast addresses
  bool coalesce = false;        ///< datagrams of one sender may arrive put together (UDP_GRO); see segment_size
  int receive_buffer_size = 0;  ///< bytes; 0: as the system says
  int send_buffer_size = 0;
  interface_name interface = {};  ///< only through this one, such as "eth0"
};

/// A UDP socket. asyncio: create_datagram_endpoint.
///
/// A socket that was moved from stops the program with a sentence when it is used.
/// Lifetime: must be destroyed before its loop.
/// Thread: belongs to that loop. The program is stopped when a task on the loop of another thread waits for an operation on it.
/// Overlap: one task receives and any number send at a time.
class GYRE_API udp_socket {
 public:
  /// Binds to an address. Port 0: the kernel chooses.
  /// Errors: io_error "udp 127.0.0.1:53: Permission denied"; std::invalid_argument for a negative buffer size.
  [[nodiscard]] static udp_socket bind(const address& local, const udp_options& options = {});
  /// The same for "127.0.0.1:53", "[::]:53", ":0".
  [[nodiscard]] static udp_socket bind(std::string_view local, const udp_options& options = {});
  /// A socket that sends to one peer and receives from it alone, from a port that the kernel chooses.
  /// Errors: io_error "udp 10.0.0.7:53: Network is unreachable".
  [[nodiscard]] static udp_socket connected(const address& peer, const udp_options& options = {});
  /// Takes over a datagram descriptor, which is made non-blocking, and closed when this fails. Errors: io_error.
  [[nodiscard]] static udp_socket from_fd(int fd);

  udp_socket(udp_socket&& other) noexcept : socket_(std::exchange(other.socket_, &datagram_socket::closed)) {}
  udp_socket& operator=(udp_socket&& other) noexcept {
    udp_socket moved(std::move(other));
    std::swap(socket_, moved.socket_);
    return *this;
  }
  ~udp_socket() {
    if (socket_ != &datagram_socket::closed) socket_->abandon();
  }

  /// Fixes the peer: `send` sends to it, and only its datagrams are received. May be called again.
  /// Errors: io_error. See connect(2).
  void connect(const address& peer);

  /// Sends one datagram to an address. Gives its size.
  ///
  /// Lifetime: `bytes` (and an array of buffers) stay valid until the await returns; the address is copied.
  /// Cancel: not sent; a send that came first wins over the cancel.
  /// Errors: io_error "send_to 10.0.0.7:53, 70000 bytes: Message too long"; what the network says of an earlier datagram,
  /// once, on a connected socket. See udp(7).
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
  /// Lifetime, Cancel: as send_to. Errors: as send_to; std::errc::destination_address_required when not connected.
  [[nodiscard("co_await it")]] datagram_send_op<address> send(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, nullptr, 0};
  }
  [[nodiscard("co_await it")]] datagram_send_op<address> send(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, std::as_bytes(std::span(text)), nullptr, 0};
  }

  /// Sends bytes as many datagrams of `segment_size` bytes each, the last one shorter, with few calls where the kernel can
  /// do that (UDP_SEGMENT). Gives the number of bytes.
  ///
  /// Lifetime: `bytes` stay valid until the await returns. Cancel: the first ones may have been sent.
  /// Errors: as send_to; std::errc::invalid_argument for segments of no size.
  [[nodiscard]] task<std::size_t> send_segments(std::span<const std::byte> bytes, std::size_t segment_size, address to);

  /// Receives one datagram into `buffer`.
  ///
  /// Lifetime: `buffer` stays valid until the await returns, also when it is cancelled.
  /// Cancel: no datagram was taken; one that came first wins over the cancel.
  /// Errors: io_error; on a connected socket what the network says of an earlier send, once ("Connection refused").
  [[nodiscard("co_await it")]] datagram_receive_op<address> receive_from(
      std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer};
  }

  /// Waits for a datagram and lends the buffer that it is in. From the first call on they are received as they come, up to
  /// 64 ahead: the fastest way, and a socket that waits here holds no buffer.
  ///
  /// Units: a buffer of the loop takes 152 bytes less than backend_options::buffer_size, 3944 by default; what is longer
  /// is truncated.
  /// Lifetime: the lease must be gone before the loop is. Cancel: as receive_from. Errors: as receive_from.
  [[nodiscard("co_await it")]] datagram_lease_op<address> receive() noexcept {
    return datagram_lease_op<address>(*socket_);
  }

  /// Ends every operation that waits on this socket, with io_error operation_canceled.
  void cancel() noexcept { socket_->cancel_all(); }

  /// Errors: io_error. See getsockname(2), getpeername(2).
  [[nodiscard]] address local_address() const;
  [[nodiscard]] address peer_address() const;

  /// Receives what is sent to a multicast group. `interface`: its index, 0: as routes say. Errors: io_error.
  void join_group(const address& group, std::uint32_t interface = 0);
  void leave_group(const address& group, std::uint32_t interface = 0);
  /// How far multicast goes, and whether this machine hears it too. Errors: io_error. See ip(7), ipv6(7).
  void set_multicast_hops(int hops);
  void set_multicast_loop(bool on);

  /// The descriptor, still owned by the socket; for options that have no function here; -1 when it was moved from.
  [[nodiscard]] int native_descriptor() const noexcept { return socket_->fd; }

 private:
  explicit udp_socket(datagram_socket& socket) noexcept : socket_(&socket) {}

  [[nodiscard]] int open_descriptor(const char* function) const noexcept {
    socket_->expect_open(function);
    return socket_->fd;
  }

  datagram_socket* socket_;
};

}  // namespace gyre
