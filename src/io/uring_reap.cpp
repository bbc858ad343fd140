// src/io/uring_reap.cpp: takes completions out of the ring. Resumes nothing: stores results and links requests.
#include "uring_backend.hpp"
#include "uring_key.hpp"

#include <poll.h>

#include <cerrno>

namespace gyre::io {
namespace {

std::size_t asked_to_send(const request& r) noexcept {
  if (r.code == opcode::send) return r.length;
  const auto& m = *static_cast<const message*>(r.address);
  std::size_t size = 0;
  for (std::size_t i = 0; i < m.buffer_count; ++i) size += m.buffers[i].size;
  return size;
}

// The kernel adds POLLRDHUP to every poll. So a poll for room ends at once when the peer has finished sending, even if
// there is no room. No event reports the room then, so it is polled for repeatedly, with pauses.
bool says_nothing_of_room(const request& r, int result) noexcept {
  return r.code == opcode::wait_writable && result == POLLRDHUP;
}

// Records what a result says about the descriptor, for trying the next operation without the ring.
void learn(const request& r, int result, std::uint32_t flags) noexcept {
  descriptor& d = *r.target;
  switch (r.code) {
    case opcode::receive_into:
    case opcode::receive_message:
      d.readable = (flags & uring::cqe_sock_nonempty) != 0;
      return;
    case opcode::send:
    case opcode::send_message:
      d.writable = result < 0 || static_cast<std::size_t>(result) == asked_to_send(r);
      return;
    case opcode::wait_readable:
    case opcode::wait_bulk:
      if (result > 0) d.readable = true;
      // A read stops at urgent data, too.
      if (result > 0 && (result & (POLLRDHUP | POLLHUP | POLLERR | POLLPRI)) != 0) d.hangup = true;
      return;
    case opcode::wait_writable:
      if (result > 0) d.writable = true;
      return;
    default:
      return;
  }
}

}  // namespace

void uring_backend::reap(ready_list& ready) noexcept {
  constexpr int max_rounds = 4;  // so that ready tasks run, however fast completions come
  for (int round = 1;; ++round) {
    const std::uint32_t count = ring_.ready();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i + 1 < count) __builtin_prefetch(request_of(ring_.at(i + 1).user_data), 1);
      link_completion(ring_.at(i), ready);
    }
    if (count > 0) ring_.advance(count);
    // Completions that did not fit into the queue wait in the kernel until there is room and somebody enters the ring.
    if ((ring_.queue_flags() & uring::sq_cq_overflow) == 0 || round == max_rounds) return;
    enter(0);
  }
}

inline void uring_backend::link_completion(const uring::completion& c, ready_list& ready) noexcept {
  if (c.user_data <= key_largest_of_nobody) [[unlikely]] {
    if (c.user_data == key_doorbell) {
      doorbell_armed_ = (c.flags & uring::cqe_more) != 0;
      rang_ = true;
    }
    return;
  }
  request& r = *request_of(c.user_data);
  if ((c.user_data & key_cancel) != 0) [[unlikely]]
    return cancel_answered(r, c.result, ready);
  if ((c.user_data & key_multishot) == 0)
    finish(r, c.result, c.flags, ready);
  else if (r.code == opcode::receive_many || r.code == opcode::receive_messages_many)
    received(static_cast<multishot&>(r), c.result, c.flags, ready);
  else if (r.code == opcode::receive_large_many)
    large_arrived(static_cast<multishot&>(r), c.result, ready);
  else if (r.code == opcode::raw)
    raw_completed(static_cast<raw_request&>(r), c.result, c.flags, ready);
  else
    accepted(static_cast<multishot&>(r), c.result, (c.flags & uring::cqe_more) == 0, ready);
}

// Handles the last completion of a request. If a cancel of it is unanswered, it waits for that
// answer, which names the request.
void uring_backend::end(request& r, int result, ready_list& ready) noexcept {
  r.result = result;
  if ((r.backend_state & state_cancel_unanswered) != 0) {
    r.backend_state |= state_ended;
    return;
  }
  set_idle(r);
  if (!is_multishot(r.code)) return ready.push_back(r);
  if (!r.cancel_requested) --endless_;
  hand_over(static_cast<multishot&>(r), result, multishot::no_buffer, ready);
}

// A cancel can fail although its target has not ended. The kernel does not find a request that it is about to retry.
// And a target that runs in a kernel thread (a send goes there when memory is short) is only interrupted; the interrupt
// is lost if it comes before the thread waits. So the cancel is repeated until the target has ended, with pauses from
// the second time on: nothing may be able to interrupt a raw operation. File operations end on their own.
void uring_backend::cancel_answered(request& r, int result, ready_list& ready) noexcept {
  r.backend_state &= static_cast<std::uint8_t>(~state_cancel_unanswered);
  if ((r.backend_state & state_ended) != 0) return end(r, r.result, ready);
  if (result >= 0 || concerns_file(r.code)) return;
  if (result == -ETIME || (r.backend_state & state_cancel_failed) == 0)
    queue_cancel(r);
  else
    queue_pause_of_cancel(r);
  r.backend_state |= state_cancel_failed;
}

// Returns true if the operation was interrupted (or an attempt was futile) and has been queued again. `result` of a
// cancelled one becomes -ECANCELED.
bool uring_backend::resumes(request& r, int& result) noexcept {
  if (concerns_file(r.code)) return file_resumes(r, result);
  const bool paused = result == -ETIME && (r.code == opcode::connect || r.code == opcode::wait_writable);
  const bool in_vain = says_nothing_of_room(r, result);
  if (result != -EINTR && result != -EAGAIN && !paused && !in_vain) return false;
  if (r.cancel_requested) {
    result = -ECANCELED;
    return false;
  }
  if (r.code == opcode::connect) {
    if (result == -EINTR) return false;
    // The backlog of a Unix socket is full, and no event reports when there is room.
    paused ? queue(r) : queue_pause(r);
    return true;
  }
  if (r.code == opcode::wait_writable) {
    in_vain ? queue_pause(r) : queue(r);
    return true;
  }
  (r.code == opcode::send || r.code == opcode::send_message ? r.target->writable : r.target->readable) = false;
  queue(r);
  return true;
}

inline void uring_backend::finish(request& r, int result, std::uint32_t flags, ready_list& ready) noexcept {
  if (result < 0 || says_nothing_of_room(r, result)) [[unlikely]]
    if (resumes(r, result)) return;
  learn(r, result, flags);
  const bool polls = r.code == opcode::wait_readable || r.code == opcode::wait_writable || r.code == opcode::wait_bulk;
  if (polls && result > 0) result = 0;  // `result` has the events; both backends report 0
  if (r.code == opcode::receive_into) note_received(result);
  if (r.cancel_requested) [[unlikely]]
    return end(r, result, ready);
  if (r.code == opcode::wait_bulk && result == 0) return line_up(r);
  r.result = result;
  set_idle(r);
  ready.push_back(r);
}

// The kernel's part of a multishot ended with a good result, which says nothing about the next one. With `repeats`, the
// kernel has no multishot form: each operation gives one result, and the backend queues the next one itself.
void uring_backend::hand_over_last(multishot& m, int result, std::uint32_t buffer, bool repeats,
                                   ready_list& ready) noexcept {
  if (repeats || m.cancel_requested) {
    hand_over(m, result, buffer, ready);
    if (!m.cancel_requested) return queue(m);
    return end(m, -ECANCELED, ready);
  }
  set_idle(m);
  --endless_;
  hand_over(m, result, buffer, ready);
}

// A completion's result is independent of whether more will come.
void uring_backend::received(multishot& m, int result, std::uint32_t flags, ready_list& ready) noexcept {
  std::uint32_t buffer = multishot::no_buffer;
  note_received(result);
  if ((flags & uring::cqe_buffer) != 0) {
    buffers().kernel_gave_back();
    buffer = flags >> uring::cqe_buffer_shift;
    buffers().at(buffer).length = result > 0 ? static_cast<std::uint32_t>(result) : 0;
    if (result <= 0) {  // a buffer was taken but not used
      buffers().release(buffer);
      buffer = multishot::no_buffer;
    }
  }
  if ((flags & uring::cqe_more) != 0) {
    // The kernel believes that it has delivered everything, and waits for the socket to wake it.
    if (m.code == opcode::receive_many && (flags & uring::cqe_sock_nonempty) == 0)
      m.backend_state |= state_may_have_missed_end;
    return hand_over(m, result, buffer, ready);
  }
  if (result > 0 && buffer == multishot::no_buffer) return receive_messages_now(m, ready);
  // An empty datagram ends the kernel's part, but is not an end of anything.
  const bool repeats = !capabilities_.multishot_receive || m.code == opcode::receive_messages_many ||
                       (m.backend_state & state_one_buffer) != 0;
  if (result > 0) return hand_over_last(m, result, buffer, repeats, ready);
  if (result == -ENOBUFS) {
    if (!m.cancel_requested) {
      ran_out_ = true;
      m.backend_state |= state_starved;
      starved_.push_back(m);
      return;
    }
    result = -ECANCELED;
  }
  if (!resumes(m, result)) end(m, result, ready);
}

void uring_backend::raw_completed(raw_request& r, int result, std::uint32_t flags, ready_list& ready) noexcept {
  const bool more = (flags & uring::cqe_more) != 0;
  if ((flags & uring::cqe_notification) == 0) {
    r.result = result;
    r.completion_flags = flags;
    if (more && r.deliver != nullptr) r.deliver(r);
  }
  if (!more) end(r, r.result, ready);
}

}  // namespace gyre::io
