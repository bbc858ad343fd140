// src/io/epoll_multishot.cpp: what a ring does by itself: one request, many results.
//
// Results are delivered in wait only. A multishot is parked in its descriptor until an edge comes, or stands in a
// line: `turn_` when it can go on without one, `starved_` when it needs a buffer. It never stands in two.
#include <gyre/io/message_multishot.hpp>

#include "epoll_backend.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <span>

namespace gyre::io {
namespace {

// Of one descriptor, before the others get their turn.
constexpr int most_receives = 32;
constexpr int most_accepts = 64;

// Where a multishot stands. It is kept in `length`, which a multishot has no use for.
enum place : std::uint32_t { parked, in_turn, starved };

// The result that ends it, when that is known before its turn comes; kept in `result`.
constexpr int undecided = 0;

}  // namespace

void epoll_backend::submit_multishot(multishot& m, int error) noexcept {
  m.result = -error;
  m.length = parked;
  if (error == 0 && !m.target->readable) return;
  m.length = in_turn;
  turn_.push_back(m);
}

void epoll_backend::cancel_multishot(multishot& m) noexcept {
  if (m.result == undecided) m.result = -ECANCELED;
  if (m.length == in_turn) return;  // or it is the one whose delivery asks for this
  if (m.length == starved) starved_.remove(m);
  m.length = in_turn;
  turn_.push_back(m);
}

// Those that had to stop although there was something for them.
void epoll_backend::serve_line() noexcept {
  // The hungry first, each to the tail when it has eaten: as long as they want buffers nobody overtakes them.
  while (!starved_.empty() && buffers().available() > 0) pump(starved_.pop_front());
  multishot_line now = turn_.take_all();
  while (!now.empty()) pump(now.pop_front());
}

void epoll_backend::pump_if_parked(multishot& m) noexcept {
  if (m.length == parked) pump(m);
}

void epoll_backend::pump(multishot& m) noexcept {
  const descriptor& d = *m.target;
  const bool accepts = m.code == opcode::accept_many;
  m.length = in_turn;
  for (int n = 0; m.result == undecided; ++n) {
    if (!d.readable) {
      m.length = parked;
      return;
    }
    if (n == (accepts ? most_accepts : most_receives)) {
      turn_.push_back(m);
      return;
    }
    if (!(accepts ? accept_one(m) : receive_one(m))) return;
  }
  end(m, m.result);
}

// False: it has ended.
bool epoll_backend::accept_one(multishot& m) noexcept {
  ++system_calls_;
  const int fd = ::accept4(m.target->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    deliver(m, fd, multishot::no_buffer);
    return true;
  }
  switch (errno) {
    case EAGAIN:
      m.target->readable = false;
      return true;
    case EINTR:
    case ECONNABORTED:  // the peer gave up before it was accepted: there may be others behind it
    case EPROTO:
      return true;
    default:
      end(m, -errno);
      return false;
  }
}

// False: it has ended, or waits for a buffer.
bool epoll_backend::receive_one(multishot& m) noexcept {
  descriptor& d = *m.target;
  const std::uint32_t buffer = buffers().take();
  if (buffer == buffer_pool::none) {
    m.length = starved;
    starved_.push_back(m);
    return false;
  }
  const ssize_t count = fill_buffer(m, buffer);
  if (count > 0) {
    deliver(m, static_cast<int>(count), buffer);
    return true;
  }
  buffers().release(buffer);
  if (count == -EINTR) return true;
  if (count == -EAGAIN) {
    d.readable = false;
    return true;
  }
  end(m, static_cast<int>(count));
  return false;
}

// Gives a count, 0 at the end of the stream, or -errno. A datagram tells nothing of the next, and leaves `readable` alone.
ssize_t epoll_backend::fill_buffer(const multishot& m, std::uint32_t buffer) noexcept {
  ++system_calls_;
  std::byte* const data = buffers().data(buffer);
  const std::size_t size = buffers().buffer_size();
  if (m.code == opcode::receive_messages_many)
    return receive_message_into(static_cast<const message_multishot&>(m), std::span(data, size));
  return receive_now(*m.target, data, size);
}

void epoll_backend::deliver(multishot& m, int result, std::uint32_t buffer) noexcept {
  m.deliver(m, result, buffer);
  delivered_ = true;
  if (m.listed) return;
  m.listed = true;
  completed_.push_back(m);
}

void epoll_backend::end(multishot& m, int result) noexcept {
  m.target->reader = nullptr;
  m.address = nullptr;
  if (!m.cancel_requested) --endless_;
  no_longer_in_flight(m);
  deliver(m, result, multishot::no_buffer);
}

}  // namespace gyre::io
