// src/io/epoll_multishot.cpp: emulates multishot requests of a ring: one request, many results.
//
// Results are delivered only in wait. The lines of multishot::place are `turn_` and `starved_`.
#include <gyre/io/kernel.hpp>
#include <gyre/io/message_multishot.hpp>

#include "epoll_backend.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <span>

namespace gyre::io {

// The limit for one descriptor, before the others get their turn.
constexpr int epoll_backend::max_in_turn(opcode code) noexcept {
  if (code == opcode::accept_many) return 64;
  return code == opcode::receive_large_many ? large_turn::max_receives : 32;
}

// The final result, if it is known before the multishot's turn comes. Stored in `result`.
constexpr int undecided = 0;

// Returns false when the multishot has ended.
bool epoll_backend::accept_one(multishot& m) noexcept {
  ++system_calls_;
  const int fd = calls().sockets.accept4(m.target->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    deliver(m, fd, multishot::no_buffer);
    return true;
  }
  switch (errno) {
    case EAGAIN:
      m.target->readable = false;
      return true;
    case EINTR:
    case ECONNABORTED:  // the peer gave up before it was accepted; more connections may follow
    case EPROTO:
      return true;
    default:
      end(m, -errno);
      return false;
  }
}

// Returns a byte count, 0 at the end of the stream, or -errno. A datagram says nothing about the next one,
// and leaves `readable` unchanged.
template <opcode Code>
ssize_t epoll_backend::fill_buffer(const multishot& m, std::uint32_t buffer) noexcept {
  ++system_calls_;
  std::byte* const data = buffers().data(buffer);
  const std::size_t size = Code == opcode::receive_large_many ? buffers().large_size() : buffers().buffer_size();
  if constexpr (Code == opcode::receive_messages_many)
    return receive_message_into(static_cast<const message_multishot&>(m), std::span(data, size));
  else
    return receive_now(*m.target, data, size);
}

// Returns false when the multishot has ended or waits for a buffer.
template <opcode Code>
bool epoll_backend::receive_one(multishot& m) noexcept {
  descriptor& d = *m.target;
  constexpr bool large = Code == opcode::receive_large_many;
  const std::uint32_t buffer = large ? buffers().take_large() : buffers().take();
  if (buffer == buffer_pool::none) {
    if (large) {
      end(m, -ENOBUFS);
      return false;
    }
    m.stands = multishot::place::starved;
    starved_.push_back(m);
    return false;
  }
  const ssize_t count = fill_buffer<Code>(m, buffer);
  if (count > 0) {
    if (large) large_.count(static_cast<int>(count));
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

template <opcode Code>
void epoll_backend::pump_as(multishot& m) noexcept {
  const descriptor& d = *m.target;
  constexpr bool large = Code == opcode::receive_large_many;
  m.stands = multishot::place::in_turn;
  for (int n = 0; m.result == undecided; ++n) {
    if (!d.readable) {
      m.stands = multishot::place::parked;
      return;
    }
    if (n == max_in_turn(Code) || (large && large_.is_over())) {
      large ? large_.push_back(m) : turn_.push_back(m);
      return;
    }
    if constexpr (Code == opcode::accept_many) {
      if (!accept_one(m)) return;
    } else if (!receive_one<Code>(m)) {
      return;
    }
  }
  end(m, m.result);
}

// Each kind has a loop of its own, so that the usual one, receive_many, tests for none of the others.
void epoll_backend::pump(multishot& m) noexcept {
  switch (m.code) {
    case opcode::accept_many:
      return pump_as<opcode::accept_many>(m);
    case opcode::receive_large_many:
      return pump_as<opcode::receive_large_many>(m);
    case opcode::receive_messages_many:
      return pump_as<opcode::receive_messages_many>(m);
    default:
      return pump_as<opcode::receive_many>(m);
  }
}

void epoll_backend::submit_multishot(multishot& m, int error) noexcept {
  m.result = -error;
  m.stands = multishot::place::parked;
  if (error == 0 && !m.target->readable) return;
  m.stands = multishot::place::in_turn;
  turn_.push_back(m);
}

void epoll_backend::cancel_multishot(multishot& m) noexcept {
  if (m.result == undecided) m.result = -ECANCELED;
  if (m.stands == multishot::place::in_turn) {  // or it is the one whose delivery requested the cancel
    if (m.code == opcode::receive_large_many) large_.note_cancel();
    return;
  }
  if (m.stands == multishot::place::starved) starved_.remove(m);
  m.stands = multishot::place::in_turn;
  turn_.push_back(m);
}

// Serves multishots that had to stop although more was available.
void epoll_backend::serve_line() noexcept {
  large_.serve([this](multishot& m) { pump(m); });
  // Starved ones first. Each goes to the tail after its turn, so none overtakes another while they need buffers.
  while (!starved_.empty() && buffers().available() > 0) pump(starved_.pop_front());
  multishot_line now = turn_.take_all();
  while (!now.empty()) pump(now.pop_front());
}

void epoll_backend::pump_if_parked(multishot& m) noexcept {
  if (m.stands == multishot::place::parked) pump(m);
}

void epoll_backend::deliver(multishot& m, int result, std::uint32_t buffer) noexcept {
  m.deliver(m, result, buffer);
  delivered_ = true;
  if (m.code != opcode::receive_large_many) note_received(result);
  if (m.listed) return;
  m.listed = true;
  completed_.push_back(m);
}

void epoll_backend::end(multishot& m, int result) noexcept {
  m.target->reader = nullptr;
  if (!m.cancel_requested) --endless_;
  no_longer_in_flight(m);
  deliver(m, result, multishot::no_buffer);
}

}  // namespace gyre::io
