// src/io/uring_multishot.cpp: multishot requests whose next result the backend has to ask for itself.
#include "uring_backend.hpp"
#include "uring_key.hpp"

#include <poll.h>

#include <cerrno>
#include <span>

namespace gyre::io {
namespace {

// A connection that was aborted before it was accepted says nothing about the listener.
bool passes_by_itself(int result) noexcept { return result == -ECONNABORTED || result == -EPROTO || result == -EINTR; }

}  // namespace

// Without a multishot form the ring only reports readiness, and the messages are fetched here.
void uring_backend::receive_messages_now(multishot& m, ready_list& ready) noexcept {
  constexpr int max_count = 32;  // from one socket, before the others get their turn
  for (int n = 0; n < max_count && !m.cancel_requested; ++n) {
    const std::uint32_t buffer = buffers().take();
    if (buffer == buffer_pool::none) {
      m.backend_state |= state_starved;
      starved_.push_back(m);
      return;
    }
    const int size = receive_message_into(static_cast<message_multishot&>(m),
                                          std::span(buffers().data(buffer), buffers().buffer_size()));
    if (size > 0) {
      buffers().at(buffer).length = static_cast<std::uint32_t>(size);
      hand_over(m, size, buffer, ready);
      continue;
    }
    buffers().release(buffer);
    if (size == -EAGAIN || size == -EINTR) break;
    return end(m, size, ready);
  }
  m.cancel_requested ? end(m, -ECANCELED, ready) : queue(m);
}

// The ring only reports readiness. So a buffer is taken when there is something to put into it, and a few buffers that
// stay in the cache serve all streams. The call costs little beside the copy of so many bytes.
void uring_backend::large_arrived(multishot& m, int result, ready_list& ready) noexcept {
  if (result < 0) {
    if (!resumes(m, result)) end(m, result, ready);
    return;
  }
  m.target->readable = true;
  if ((result & (POLLHUP | POLLERR | POLLRDHUP)) != 0) m.target->hangup = true;
  receive_large(m, ready);
}

// Receives until nothing is left, or the others must have their turn.
void uring_backend::receive_large(multishot& m, ready_list& ready) noexcept {
  constexpr int more_may_come = 1;
  int outcome = more_may_come;
  m.backend_state |= state_in_hand;
  for (int n = 0; outcome > 0 && m.target->readable && n < large_turn::max_receives && !large_.is_over(); ++n)
    outcome = m.cancel_requested ? -ECANCELED : fill_large_buffer(m, ready);
  if (m.cancel_requested) outcome = -ECANCELED;
  if (outcome > 0 && m.target->readable) return large_.push_back(m);
  m.backend_state &= static_cast<std::uint8_t>(~state_in_hand);
  outcome > 0 || outcome == -EAGAIN ? queue(m) : end(m, outcome, ready);
}

// Returns the number of bytes, 0 at the end of the stream, or -errno.
int uring_backend::fill_large_buffer(multishot& m, ready_list& ready) noexcept {
  const std::uint32_t buffer = buffers().take_large();
  if (buffer == buffer_pool::none) return -ENOBUFS;
  count_direct_call();
  const auto count = static_cast<int>(receive_now(*m.target, buffers().data(buffer), buffers().large_size()));
  if (count <= 0) {
    buffers().release(buffer);
    return count;
  }
  large_.count(count);
  buffers().at(buffer).length = static_cast<std::uint32_t>(count);
  hand_over(m, count, buffer, ready);
  return count;
}

void uring_backend::accepted(multishot& m, int result, bool last, ready_list& ready) noexcept {
  if (passes_by_itself(result)) {
    if (!last) return;
    if (!m.cancel_requested) return queue(m);
    result = -ECANCELED;
  }
  if (!last) return hand_over(m, result, multishot::no_buffer, ready);
  if (result >= 0) return hand_over_last(m, result, multishot::no_buffer, !capabilities_.multishot_accept, ready);
  end(m, result, ready);
}

// First come, first served. At most `most`, the number of buffers, because the rest would only fail again.
void uring_backend::rearm_starved(std::uint32_t max_count) noexcept {
  for (; max_count > 0 && !starved_.empty(); --max_count) {
    multishot& m = starved_.pop_front();
    m.backend_state = 0;
    queue(m);
  }
}

bool uring_backend::end_cancelled_starved(ready_list& ready) noexcept {
  starved_cancelled_ = false;
  bool some = false;
  for (multishot_line all = starved_.take_all(); !all.empty();) {
    multishot& m = all.pop_front();
    if (!m.cancel_requested) {
      starved_.push_back(m);
      continue;
    }
    some = true;
    end(m, -ECANCELED, ready);
  }
  return some;
}

}  // namespace gyre::io
