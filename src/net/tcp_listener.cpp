// src/net/tcp_listener.cpp: binding and listening.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/net/tcp_listener.hpp>

#include "connecting.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre {
namespace {

address bind_and_listen(int fd, const address& local, const listen_options& options) {
  set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, options.reuse_address ? 1 : 0);
  if (options.reuse_port) set_socket_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (options.only_ipv6) set_socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  // Accepted sockets inherit these options, which saves calls per connection.
  set_socket_option(fd, IPPROTO_TCP, TCP_NODELAY, options.no_delay ? 1 : 0);
  // Best effort: some sandboxes do not support it, and everything works without it.
  if (options.max_unsent > 0)
    io::sockets().setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &options.max_unsent, sizeof(options.max_unsent));
  bind_to_interface(fd, options.interface);
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (io::sockets().bind(fd, static_cast<const sockaddr*>(local.data()), local.size()) < 0 ||
      io::sockets().listen(fd, options.backlog) < 0 ||
      io::sockets().getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) < 0)
    throw std::system_error(errno, std::generic_category());
  return address::from_raw(&bound, length);
}

}  // namespace

tcp_listener tcp_listener::bind(const address& local, const listen_options& options) {
  if (options.backlog < 0) throw std::invalid_argument("tcp_listener: the backlog is negative");
  owned_fd socket(io::sockets().socket(static_cast<const sockaddr*>(local.data())->sa_family,
                                       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw io_error({errno, std::generic_category()}, "listen", local.string());
  try {
    const address bound = bind_and_listen(socket.get(), local, options);
    std::string name = bound.string();
    return tcp_listener(*new listener_state(socket.release(), std::move(name), options.backlog), bound);
  } catch (const std::system_error& error) {
    throw io_error(error.code(), "listen", local.string());
  }
}

tcp_listener tcp_listener::bind(std::string_view local, const listen_options& options) {
  return bind(address(local), options);
}

}  // namespace gyre
