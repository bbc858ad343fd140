// src/io/missed_end.cpp: polls the socket for what the ring may have missed.
#include <gyre/io/kernel.hpp>
#include <gyre/io/missed_end.hpp>

#include "uring_key.hpp"

#include <poll.h>

namespace gyre::io {

void end_was_not_missed(multishot& m) noexcept {
  m.backend_state &= static_cast<std::uint8_t>(~state_may_have_missed_end);
}

void look_for_missed_end(multishot& m, backend& performer) noexcept {
  // The other backends never set the mark.
  if (m.where != phase::in_flight || (m.backend_state & state_may_have_missed_end) == 0) return;
  end_was_not_missed(m);
  performer.count_direct_call();
  pollfd socket{.fd = m.target->fd, .events = POLLRDHUP, .revents = 0};
  if (sockets().poll(&socket, 1, 0) > 0) performer.cancel(m);  // when it is submitted again, it finds the end
}

bool has_unreceived(int socket, backend& performer) noexcept {
  performer.count_direct_call();
  pollfd in_kernel{.fd = socket, .events = POLLIN | POLLRDHUP, .revents = 0};
  return sockets().poll(&in_kernel, 1, 0) != 0;
}

}  // namespace gyre::io
