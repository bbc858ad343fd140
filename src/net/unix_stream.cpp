// src/net/unix_stream.cpp: connects to a Unix socket, and identifies its ends.
#include <gyre/io/kernel.hpp>
#include <gyre/net/unix_stream.hpp>

#include "connecting.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace gyre {
namespace {

unix_address ask(const socket_state& socket, name_call call, const char* operation) {
  socket.expect_open(operation);
  return name_of_socket<unix_address>(socket.fd, call, operation);
}

}  // namespace

task<unix_stream> unix_stream::connect(unix_address peer) {
  const std::string name = peer.string();
  try {
    connecting_socket socket(AF_UNIX);
    connect_op connecting(socket, peer.data(), peer.size(), name);
    co_await std::move(connecting);
    co_return unix_stream(socket_state::create(socket.release()));
  } catch (const std::system_error& error) {
    throw io_error(error.code(), "connect", name);
  }
}

unix_stream_pair unix_stream::pair() {
  int ends[2];
  if (io::sockets().socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
    throw io_error({errno, std::generic_category()}, "pair", {});
  owned_fd second(ends[1]);
  unix_stream first(socket_state::create(ends[0]));
  return {std::move(first), unix_stream(socket_state::create(second.release()))};
}

unix_address unix_stream::local_address() const { return ask(*socket_, &::getsockname, "local_address"); }
unix_address unix_stream::peer_address() const { return ask(*socket_, &::getpeername, "peer_address"); }

peer_credentials unix_stream::credentials() const {
  socket_->expect_open("credentials");
  ucred found{};
  socklen_t length = sizeof(found);
  if (io::sockets().getsockopt(socket_->fd, SOL_SOCKET, SO_PEERCRED, &found, &length) < 0)
    throw io_error({errno, std::generic_category()}, "credentials", socket_->peer_name());
  return {found.pid, found.uid, found.gid};
}

}  // namespace gyre
