// src/net/unix_datagram.cpp: making Unix datagram sockets.
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/net/unix_datagram.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <string>

namespace gyre {
namespace {

constexpr int kind = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

using naming_call = int (*)(int, const sockaddr*, socklen_t);

void remove_file(const unix_address& local) noexcept {
  if (!local.is_unnamed() && !local.is_abstract())
    io::files().unlinkat(AT_FDCWD, static_cast<const sockaddr_un*>(local.data())->sun_path, 0);  // zero-terminated
}

datagram_state& make(naming_call call, const unix_address& name) {
  owned_fd socket(io::sockets().socket(AF_UNIX, kind, 0));
  if (!socket || call(socket.get(), static_cast<const sockaddr*>(name.data()), name.size()) < 0)
    throw io_error({errno, std::generic_category()}, "unix_datagram", name.string());
  try {
    return *new datagram_state(socket.release(), datagram_state::waiting::by_itself);
  } catch (...) {
    if (call == &::bind) remove_file(name);
    throw;
  }
}

}  // namespace

unix_datagram unix_datagram::bind(const unix_address& local) { return {make(&::bind, local), local}; }
unix_datagram unix_datagram::connected(const unix_address& peer) { return {make(&::connect, peer), unix_address()}; }

unix_datagram_pair unix_datagram::pair() {
  int ends[2];
  if (io::sockets().socketpair(AF_UNIX, kind, 0, ends) < 0)
    throw io_error({errno, std::generic_category()}, "pair", {});
  owned_fd one(ends[0]);
  owned_fd other(ends[1]);
  constexpr auto waiting = datagram_state::waiting::by_itself;
  unix_datagram first(*new datagram_state(one.release(), waiting), unix_address());
  return {std::move(first), unix_datagram(*new datagram_state(other.release(), waiting), unix_address())};
}

unix_datagram::~unix_datagram() {
  if (socket_ == &datagram_state::closed) return;
  socket_.reset();
  remove_file(local_);
}

}  // namespace gyre
