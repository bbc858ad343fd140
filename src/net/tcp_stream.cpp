// src/net/tcp_stream.cpp: connecting, and the options of a connected socket.
#include <gyre/io/kernel.hpp>
#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/tcp_stream.hpp>

#include "connecting.hpp"
#include "reset_at_close.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace gyre {
namespace {

int family_of(const address& peer) noexcept { return static_cast<const sockaddr*>(peer.data())->sa_family; }

void bind_before_connecting(int fd, const connect_options& options) {
  bind_to_interface(fd, options.interface);
  if (options.local.empty()) return;
  // With port 0 the kernel chooses the port once it knows the peer, so one port can serve connections to several peers.
  if (options.local.port() == 0) set_socket_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  if (io::sockets().bind(fd, static_cast<const sockaddr*>(options.local.data()), options.local.size()) < 0)
    throw std::system_error(errno, std::generic_category());
}

}  // namespace

task<tcp_stream> tcp_stream::connect(address peer, connect_options options) {
  const std::string name = peer.string();
  try {
    connecting_socket socket(family_of(peer));
    bind_before_connecting(socket.fd(), options);
    connect_op connecting(socket, peer.data(), peer.size(), name);
    co_await std::move(connecting);
    tcp_stream stream = from_fd(socket.release());
    stream.set_no_delay(true);
    co_return stream;
  } catch (const io_error&) {
    throw;
  } catch (const std::system_error& error) {
    throw io_error(error.code(), "connect", name);
  }
}

task<tcp_stream> tcp_stream::connect(std::string host_and_port, connect_options options) {
  auto addresses = co_await resolve(host_and_port);
  happy_eyeballs_options how;
  how.connecting = options;
  co_return co_await connect_to_first(std::move(addresses), how);
}

address tcp_stream::local_address() const {
  socket_->expect_open("local_address");
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  if (io::sockets().getsockname(native_descriptor(), reinterpret_cast<sockaddr*>(&local), &length) < 0)
    throw io_error({errno, std::generic_category()}, "local_address", socket_->peer_name());
  return address::from_raw(&local, length);
}

void tcp_stream::set_no_delay(bool on) { set_option(IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0, "set_no_delay"); }
void tcp_stream::set_keep_alive(bool on) { set_option(SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0, "set_keep_alive"); }
void tcp_stream::set_reset_on_close(bool on) {
  socket_->expect_open("set_reset_on_close");
  if (reset_at_close(native_descriptor(), on) < 0)
    throw io_error({errno, std::generic_category()}, "set_reset_on_close", socket_->peer_name());
}

}  // namespace gyre
