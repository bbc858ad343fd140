// src/net/tcp_listener.cpp: binding, and serving connections until they are drained.
#include <gyre/io/io_error.hpp>
#include <gyre/net/tcp_listener.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace gyre {
namespace {

bool is_reset(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const io_error& error) {
    return error.code() == std::errc::connection_reset || error.code() == std::errc::broken_pipe;
  } catch (...) {  // only asked what it is
    return false;
  }
}

void set_flag(int fd, int level, int option, bool on) {
  const int value = on ? 1 : 0;
  if (::setsockopt(fd, level, option, &value, sizeof(value)) < 0)
    throw std::system_error(errno, std::generic_category());
}

address bind_and_listen(int fd, const address& local, const listen_options& options) {
  set_flag(fd, SOL_SOCKET, SO_REUSEADDR, options.reuse_address);
  if (options.reuse_port) set_flag(fd, SOL_SOCKET, SO_REUSEPORT, true);
  if (options.only_ipv6) set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, true);
  set_flag(fd, IPPROTO_TCP, TCP_NODELAY, options.no_delay);  // accepted sockets inherit it: no call for each
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (::bind(fd, static_cast<const sockaddr*>(local.data()), local.size()) < 0 || ::listen(fd, options.backlog) < 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) < 0)
    throw std::system_error(errno, std::generic_category());
  return address::from_raw(&bound, length);
}

}  // namespace

tcp_listener tcp_listener::bind(const address& local, const listen_options& options) {
  const int fd =
      ::socket(static_cast<const sockaddr*>(local.data())->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw io_error({errno, std::generic_category()}, "listen", local.string());
  try {
    const address bound = bind_and_listen(fd, local, options);
    return tcp_listener(*new listening_socket(fd, bound));
  } catch (const std::system_error& error) {
    ::close(fd);
    throw io_error(error.code(), "listen", local.string());
  }
}

tcp_listener tcp_listener::bind(std::string_view local, const listen_options& options) {
  return bind(address(local), options);
}

task<> tcp_listener::drain(served_connections& connections, std::chrono::nanoseconds limit) {
  struct deadline_timer : timer {
    served_connections* connections = nullptr;
  } clock;
  clock.connections = &connections;
  clock.fire = [](timer& t) noexcept { static_cast<deadline_timer&>(t).connections->scope().cancel(); };
  clock.deadline = deadline_after(limit);
  event_loop::current().timers().arm(clock);
  co_await connections.all_ended();
  event_loop::current().timers().disarm(clock);
}

served_connections::~served_connections() {
  // A handler may have handed its stream to somebody who outlives it.
  for (tcp_socket* each = peers_; each != nullptr; each = each->next_peer) each->peer_link = nullptr;
}

void served_connections::add(tcp_socket& socket) noexcept {
  socket.next_peer = peers_;
  if (peers_ != nullptr) peers_->peer_link = &socket.next_peer;
  peers_ = &socket;
  socket.peer_link = &peers_;
}

void served_connections::finish_reading() noexcept {
  for (tcp_socket* each = peers_; each != nullptr; each = each->next_peer) ::shutdown(each->fd, SHUT_RD);
}

void served_connections::ended(child_tasks& /*children*/, task_state& child) noexcept {
  if (!child.failure() || child.was_cancelled() || is_reset(child.failure())) return;
  event_loop::report({child.failure(), child.name(), child.spawned_at});
}

}  // namespace gyre
