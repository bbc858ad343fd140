// bench/bare/epoll_loop.hpp: the fastest plain epoll server: edge-triggered, one read and one write per request.
#pragma once

#include "bench/bare/options.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <vector>

namespace bare {

template <class Protocol>
struct epoll_connection {
  int fd;
  Protocol protocol;
  std::string unsent;
};

template <class Protocol>
int run_epoll(int argc, char** argv) {
  const int listener = listen_as_told(argc, argv, "epoll");
  const int ep = ::epoll_create1(EPOLL_CLOEXEC);
  using connection = epoll_connection<Protocol>;
  connection accepting{listener, {}, {}};
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = &accepting}};
  ::epoll_ctl(ep, EPOLL_CTL_ADD, listener, &event);
  std::array<epoll_event, 256> events;
  static char buffer[65'536];
  std::string scratch;

  const auto close = [&](connection* c) {
    ::close(c->fd);
    delete c;
  };
  // Returns when the connection is closed or has no more to do.
  const auto serve = [&](connection* c, std::uint32_t flags) {
    if (!c->unsent.empty()) {
      const ssize_t sent = ::send(c->fd, c->unsent.data(), c->unsent.size(), MSG_NOSIGNAL);
      if (sent > 0) c->unsent.erase(0, static_cast<std::size_t>(sent));
      if (!c->unsent.empty()) return;
    }
    for (;;) {
      const ssize_t n = ::recv(c->fd, buffer, sizeof(buffer), 0);
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return close(c);
      const std::string_view reply = c->protocol.answer({buffer, static_cast<std::size_t>(n)}, scratch);
      const ssize_t sent = reply.empty() ? 0 : ::send(c->fd, reply.data(), reply.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return close(c);
      if (sent < static_cast<ssize_t>(reply.size())) {
        c->unsent.append(reply.substr(sent < 0 ? 0 : static_cast<std::size_t>(sent)));
        return;
      }
      // A short read means that the socket is empty. Reading again would cost a tenth of the speed.
      if (static_cast<std::size_t>(n) < sizeof(buffer) && (flags & EPOLLRDHUP) == 0) return;
    }
  };
  for (;;) {
    const int count = ::epoll_wait(ep, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* const c = static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (c != &accepting) {
        serve(c, events[static_cast<std::size_t>(i)].events);
        continue;
      }
      for (int fd; (fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        auto* const made = new connection{fd, {}, {}};
        epoll_event added{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = made}};
        ::epoll_ctl(ep, EPOLL_CTL_ADD, fd, &added);
      }
    }
  }
}

}  // namespace bare
