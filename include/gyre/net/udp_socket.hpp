// gyre/net/udp_socket.hpp: datagrams over IP. udp(7), RFC 768.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/datagram_socket.hpp>
#include <gyre/net/interface_name.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

/// A UDP socket. Its base, datagram_socket in gyre/net/datagram_socket.hpp, has the functions that send, receive and
/// cancel. asyncio: create_datagram_endpoint.
class GYRE_API udp_socket : public datagram_socket<address> {
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

  /// Sends bytes as datagrams of `segment_size` bytes each; the last one may be shorter. Needs only a few calls where
  /// the kernel supports that (UDP_SEGMENT). Returns the number of bytes.
  ///
  /// Lifetime: `bytes` stay valid until the await returns. Cancel: the first datagrams may have been sent.
  /// Errors: same as send_to; std::errc::invalid_argument for a segment size of 0.
  [[nodiscard]] task<std::size_t> send_segments(std::span<const std::byte> bytes, std::size_t segment_size, address to);

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

 private:
  using datagram_socket::datagram_socket;

  [[nodiscard]] int open_descriptor(const char* function) const noexcept {
    socket_->expect_open(function);
    return socket_->fd;
  }
};

}  // namespace gyre
