// src/net/udp_socket.cpp: creates UDP sockets, sets their options, and sends many datagrams with one call.
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/net/udp_socket.hpp>

#include "connecting.hpp"
#include "last_error.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace gyre {
namespace {

const sockaddr* raw(const address& a) noexcept { return static_cast<const sockaddr*>(a.data()); }

owned_fd new_socket(const address& where, const udp_options& options) {
  if (options.receive_buffer_size < 0 || options.send_buffer_size < 0)
    throw std::invalid_argument("udp_socket: a buffer size is negative");
  const int family = raw(where)->sa_family;
  owned_fd socket(io::sockets().socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw last_error();
  const int fd = socket.get();
  if (options.reuse_address) set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (options.reuse_port) set_socket_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (family == AF_INET6) set_socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, options.only_ipv6 ? 1 : 0);
  if (options.broadcast) set_socket_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
  if (options.coalesce) set_socket_option(fd, SOL_UDP, UDP_GRO, 1);
  if (options.receive_buffer_size > 0) set_socket_option(fd, SOL_SOCKET, SO_RCVBUF, options.receive_buffer_size);
  if (options.send_buffer_size > 0) set_socket_option(fd, SOL_SOCKET, SO_SNDBUF, options.send_buffer_size);
  bind_to_interface(fd, options.interface);
  return socket;
}

// `name_it` is bind or connect.
datagram_state& make(int (*name_it)(int, const sockaddr*, socklen_t), const address& name, const udp_options& options) {
  try {
    owned_fd socket = new_socket(name, options);
    if (name_it(socket.get(), raw(name), name.size()) < 0) throw last_error();
    return *new datagram_state(socket.release());
  } catch (const std::system_error& error) {
    throw io_error(error.code(), "udp", name.string());
  }
}

template <class Value>
void set(int fd, int level, int option, const Value& value, const char* name) {
  if (io::sockets().setsockopt(fd, level, option, &value, sizeof(value)) < 0)
    throw io_error({errno, std::generic_category()}, name, {});
}

void change_group(int fd, const address& group, std::uint32_t interface, bool join, const char* name) {
  if (group.is_v6()) {
    ipv6_mreq wanted{};
    wanted.ipv6mr_multiaddr = reinterpret_cast<const sockaddr_in6*>(group.data())->sin6_addr;
    wanted.ipv6mr_interface = interface;
    return set(fd, IPPROTO_IPV6, join ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, wanted, name);
  }
  ip_mreqn wanted{};
  wanted.imr_multiaddr = reinterpret_cast<const sockaddr_in*>(group.data())->sin_addr;
  wanted.imr_ifindex = static_cast<int>(interface);
  set(fd, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, wanted, name);
}

}  // namespace

udp_socket udp_socket::bind(const address& local, const udp_options& options) {
  return udp_socket(make(&::bind, local, options));
}

udp_socket udp_socket::bind(std::string_view local, const udp_options& options) {
  return bind(address(local), options);
}

udp_socket udp_socket::connected(const address& peer, const udp_options& options) {
  return udp_socket(make(&::connect, peer, options));
}

udp_socket udp_socket::from_fd(int fd) {
  owned_fd socket(fd);
  int type = 0;
  socklen_t length = sizeof(type);
  const int flags = io::files().fcntl(fd, F_GETFL, 0);
  if (flags < 0 || io::sockets().getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 ||
      io::files().fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    throw io_error({errno, std::generic_category()}, "from_fd", std::to_string(fd));
  if (type != SOCK_DGRAM)
    throw io_error(std::make_error_code(std::errc::wrong_protocol_type), "from_fd", std::to_string(fd));
  return udp_socket(*new datagram_state(socket.release()));
}

void udp_socket::connect(const address& peer) {
  if (io::sockets().connect(open_descriptor("connect"), raw(peer), peer.size()) < 0)
    throw io_error({errno, std::generic_category()}, "connect", peer.string());
}

task<std::size_t> udp_socket::send_segments(std::span<const std::byte> bytes, std::size_t segment_size, address to) {
  constexpr std::size_t largest = 65507;    // datagram
  constexpr std::size_t max_segments = 64;  // per call: UDP_MAX_SEGMENTS
  bool kernel_can = true;
  if (segment_size == 0 || segment_size > largest)
    throw io_error(std::make_error_code(std::errc::invalid_argument), "send_segments", to.string());
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t together = std::min(max_segments, largest / segment_size) * segment_size;
    const auto rest = bytes.subspan(done);
    if (kernel_can && rest.size() > segment_size && together > segment_size) {
      const auto part = rest.first(std::min(rest.size(), together));
      datagram_send_op<address> sending(*socket_, part, &to, static_cast<std::uint16_t>(segment_size));
      const auto sent = co_await as_expected(std::move(sending));
      if (sent) {
        done += *sent;
        continue;
      }
      // The device cannot do it (EIO); the kernel does not support it at all, or not with the options of this socket
      // (EINVAL); or a segment would have to be fragmented (EMSGSIZE). Other sockets and routes may differ.
      const bool cannot = sent.error() == std::errc::io_error || sent.error() == std::errc::invalid_argument ||
                          sent.error() == std::errc::message_size;
      if (!cannot) throw io_error(sent.error(), "send_segments", to.string());
      kernel_can = false;
    }
    done += co_await send_to(rest.first(std::min(rest.size(), segment_size)), to);
  }
  co_return done;
}

address udp_socket::local_address() const {
  return name_of_socket<address>(open_descriptor("local_address"), &::getsockname, "local_address");
}
address udp_socket::peer_address() const {
  return name_of_socket<address>(open_descriptor("peer_address"), &::getpeername, "peer_address");
}

void udp_socket::join_group(const address& group, std::uint32_t interface) {
  change_group(open_descriptor("join_group"), group, interface, true, "join_group");
}
void udp_socket::leave_group(const address& group, std::uint32_t interface) {
  change_group(open_descriptor("leave_group"), group, interface, false, "leave_group");
}
void udp_socket::set_multicast_hops(int hops) {
  if (local_address().is_v6())
    return set(open_descriptor("set_multicast_hops"), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, hops, "set_multicast_hops");
  set(open_descriptor("set_multicast_hops"), IPPROTO_IP, IP_MULTICAST_TTL, hops, "set_multicast_hops");
}
void udp_socket::set_multicast_loop(bool on) {
  const int value = on ? 1 : 0;
  if (local_address().is_v6())
    return set(open_descriptor("set_multicast_loop"), IPPROTO_IPV6, IPV6_MULTICAST_LOOP, value, "set_multicast_loop");
  set(open_descriptor("set_multicast_loop"), IPPROTO_IP, IP_MULTICAST_LOOP, value, "set_multicast_loop");
}

}  // namespace gyre
