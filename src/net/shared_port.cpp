// src/net/shared_port.cpp: several listening sockets with one address. socket(7), SO_REUSEPORT.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/net/listener_state.hpp>

#include "connecting.hpp"
#include "last_error.hpp"

#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

namespace gyre {
namespace {

// Options of a listening socket that its program may have set, through listen_options or itself.
constexpr struct {
  int level;
  int option;
} copied[] = {{SOL_SOCKET, SO_REUSEADDR},  {SOL_SOCKET, SO_KEEPALIVE},      {IPPROTO_TCP, TCP_NODELAY},
              {IPPROTO_TCP, TCP_FASTOPEN}, {IPPROTO_TCP, TCP_DEFER_ACCEPT}, {IPPROTO_TCP, TCP_NOTSENT_LOWAT}};

void copy_options(int from, int to, int family) noexcept {
  const auto copy = [from, to](int level, int option) {
    int value = 0;
    socklen_t size = sizeof(value);
    if (io::sockets().getsockopt(from, level, option, &value, &size) == 0 && value != 0)
      (void)io::sockets().setsockopt(to, level, option, &value, sizeof(value));  // best effort, as when they were set
  };
  for (const auto& each : copied) copy(each.level, each.option);
  if (family == AF_INET6) copy(IPPROTO_IPV6, IPV6_V6ONLY);
  char interface[IF_NAMESIZE] = {};
  socklen_t size = sizeof(interface);
  if (io::sockets().getsockopt(from, SOL_SOCKET, SO_BINDTODEVICE, interface, &size) == 0 && size > 0)
    (void)io::sockets().setsockopt(to, SOL_SOCKET, SO_BINDTODEVICE, interface, size);
}

}  // namespace

// Also works after the bind: the kernel compares the option of both sockets when the second one binds. So the first
// bind, without the option, has made sure that no other server uses the address.
bool listener_state::share_port() const noexcept {
  int family = AF_UNSPEC;
  socklen_t size = sizeof(family);
  constexpr int yes = 1;
  return io::sockets().getsockopt(descriptor_.fd, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family != AF_UNIX &&
         io::sockets().setsockopt(descriptor_.fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) == 0;
}

owned_fd listener_state::open_beside() const {
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  if (io::sockets().getsockname(descriptor_.fd, reinterpret_cast<sockaddr*>(&local), &length) != 0)
    throw io_error(errno_code(errno), "listen", name);
  owned_fd socket(io::sockets().socket(local.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw io_error(errno_code(errno), "listen", name);
  copy_options(descriptor_.fd, socket.get(), local.ss_family);
  constexpr int yes = 1;
  if (io::sockets().setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) != 0 ||
      io::sockets().bind(socket.get(), reinterpret_cast<const sockaddr*>(&local), length) != 0)
    throw io_error(errno_code(errno), "listen", name);
  return socket;
}

listener_state& listener_state::listen_beside(owned_fd bound) const {
  const int backlog = static_cast<int>(backlog_);
  if (io::sockets().listen(bound.get(), backlog) != 0) throw io_error(errno_code(errno), "listen", name);
  std::string same = name;
  auto* const made = new listener_state(bound.get(), std::move(same), backlog);
  (void)bound.release();
  return *made;
}

}  // namespace gyre
