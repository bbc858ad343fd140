// src/io/uring_reap.cpp: takes completions out of the ring. Resumes nothing: stores results and links requests.
#include <gyre/io/attempt.hpp>

#include "uring_backend.hpp"
#include "uring_key.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <span>

namespace gyre::io {
namespace {

// A connection that was aborted before it was accepted says nothing about the listener.
bool passes_by_itself(int result) noexcept { return result == -ECONNABORTED || result == -EPROTO || result == -EINTR; }

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

inline void uring_backend::hand_over(multishot& m, int result, std::uint32_t buffer, ready_list& ready) noexcept {
  m.deliver(m, result, buffer);
  if (m.listed) return;
  m.listed = true;
  ready.push_back(m);
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

// Without a multishot form the ring only reports readiness, and the messages are fetched here.
void uring_backend::receive_messages_now(multishot& m, ready_list& ready) noexcept {
  constexpr int most = 32;  // from one socket, before the others get their turn
  for (int n = 0; n < most && !m.cancel_requested; ++n) {
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

void uring_backend::raw_completed(raw_request& r, int result, std::uint32_t flags, ready_list& ready) noexcept {
  const bool more = (flags & uring::cqe_more) != 0;
  if ((flags & uring::cqe_notification) == 0) {
    r.result = result;
    r.completion_flags = flags;
    if (more && r.deliver != nullptr) r.deliver(r);
  }
  if (!more) end(r, r.result, ready);
}

// First come, first served. At most `most`, the number of buffers, because the rest would only fail again.
void uring_backend::rearm_starved(std::uint32_t most) noexcept {
  for (; most > 0 && !starved_.empty(); --most) {
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

// At the end of the backend no completion is called. The memory of the request is free again.
void uring_backend::set_aside(request& r) noexcept {
  set_idle(r);
  if ((r.code == opcode::accept || r.code == opcode::open) && r.result >= 0) ::close(r.result);
  r.result = -ECANCELED;
  if (!is_multishot(r.code)) return;
  auto& m = static_cast<multishot&>(r);
  m.deliver(m, -ECANCELED, multishot::no_buffer);
}

void uring_backend::discard_completions() noexcept {
  const std::uint32_t count = ring_.ready();
  for (std::uint32_t i = 0; i < count; ++i) {
    const uring::completion& c = ring_.at(i);
    if (c.user_data <= key_largest_of_nobody) continue;
    request& r = *request_of(c.user_data);
    if ((c.user_data & key_cancel) != 0) {
      r.backend_state &= static_cast<std::uint8_t>(~state_cancel_unanswered);
    } else {
      if (r.code == opcode::accept_many && c.result >= 0) ::close(c.result);
      r.result = c.result;
      if ((c.flags & uring::cqe_more) == 0) r.backend_state |= state_ended;
    }
    if ((r.backend_state & (state_ended | state_cancel_unanswered)) == state_ended) set_aside(r);
  }
  if (count > 0) ring_.advance(count);
}

bool uring_backend::drain() noexcept {
  constexpr monotonic_time step = 10'000'000;
  constexpr int max_steps = 100;  // a second
  while (!starved_.empty()) set_aside(starved_.pop_front());
  while (!large_.empty()) set_aside(large_.pop_front());
  while (!bulk_.empty()) set_aside(static_cast<request&>(bulk_.pop_front()));
  if (offloaded_.outstanding()) settle_offloaded();
  for (int n = 0; in_flight_ > 0 && n < max_steps; ++n) {
    // A full queue has room again when the kernel has consumed its entries, which may never happen.
    if (uring::submission* const entry = ring_.next_submission(); entry != nullptr) {
      uring::prepare_cancel_everything(*entry);
      entry->flags = uring::sqe_cqe_skip_success;
      entry->user_data = key_ignored;
    }
    enter(1, monotonic_now() + step);
    discard_completions();
  }
  return in_flight_ == 0;
}

}  // namespace gyre::io
