// src/io/uring_submit.cpp: puts requests into the ring.
#include "uring_backend.hpp"
#include "uring_key.hpp"

#include <poll.h>
#include <sys/socket.h>

namespace gyre::io {
namespace {

constexpr uring::time retry_pause{.seconds = 0, .nanoseconds = 1'000'000};

// Skips the kernel's first attempt when it is known to be futile.
std::uint16_t poll_first_unless(bool ready) noexcept { return ready ? 0 : std::uint16_t{uring::recvsend_poll_first}; }

}  // namespace

uring::submission& uring_backend::next_entry() noexcept {
  for (;;) {
    if (uring::submission* const entry = ring_.next_submission(); entry != nullptr) [[likely]]
      return *entry;
    // The queue is full; the call consumes everything in it. A call that lacks memory does not, and completions cannot
    // be taken here, during a submission.
    if (!enter(0) && ring_.ready() > 0) wait_for_memory();
  }
}

void uring_backend::submit(request& r) noexcept {
  r.where = phase::in_flight;
  r.cancel_requested = false;
  r.backend_state = 0;
  ++in_flight_;
  ++r.target->in_flight;
  if (is_multishot(r.code)) [[unlikely]]
    ++endless_;
  if (concerns_file(r.code) && (must_offload(r) || better_offload(r))) [[unlikely]]
    return offload(r);
  if (r.code == opcode::wait_bulk && r.target->readable) return line_up(r);
  queue(r);
}

void uring_backend::line_up(request& r) noexcept {
  r.backend_state |= state_in_hand;
  r.result = 0;
  bulk_.push_back(r);
}

void uring_backend::queue(request& r) noexcept {
  uring::submission& entry = next_entry();
  fill(entry, r);
  entry.user_data = key_of(r);
}

// Uses the request's key, so that a cancel finds it. -ETIME then means that the pause is over.
void uring_backend::queue_pause(request& r) noexcept {
  uring::submission& entry = next_entry();
  uring::prepare_timeout(entry, &retry_pause, 0, 0);
  entry.user_data = key_of(r);
}

// The pause counts as an unanswered cancel, so the request is not handed out before it is over.
void uring_backend::queue_pause_of_cancel(request& r) noexcept {
  r.backend_state |= state_cancel_unanswered;
  uring::submission& entry = next_entry();
  uring::prepare_timeout(entry, &retry_pause, 0, 0);
  entry.user_data = key_of(r) | key_cancel;
}

// While unread data fills up the pool, the kernel gets only one buffer for each request. Otherwise it fills up to 32
// for one connection before a cancel can reach it.
bool uring_backend::receives_many(request& r) noexcept {
  r.backend_state &= static_cast<std::uint8_t>(~state_one_buffer);
  if (!capabilities_.multishot_receive) return false;
  if (!buffers().fills_up()) [[likely]]
    return true;
  r.backend_state |= state_one_buffer;
  return false;
}

void uring_backend::fill(uring::submission& entry, request& r) noexcept {
  const descriptor& d = *r.target;
  constexpr int accepted_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  switch (r.code) {
    case opcode::accept:
      return uring::prepare_accept(entry, d.fd, accepted_flags);
    case opcode::accept_many:
      if (!capabilities_.multishot_accept) return uring::prepare_accept(entry, d.fd, accepted_flags);
      return uring::prepare_accept_multishot(entry, d.fd, accepted_flags);
    case opcode::connect:
      return uring::prepare_connect(entry, d.fd, r.address, r.length);
    case opcode::receive_into:
      return uring::prepare_receive(entry, d.fd, r.address, r.length, 0, poll_first_unless(d.readable));
    case opcode::receive_many:  // without poll_first, an empty buffer group fails even when there is nothing to receive
      if (!receives_many(r))
        return uring::prepare_receive_selected(entry, d.fd, buffer_group, uring::recvsend_poll_first);
      return uring::prepare_receive_multishot(entry, d.fd, buffer_group, uring::recvsend_poll_first);
    case opcode::receive_large_many:
      return uring::prepare_poll(entry, d.fd, POLLIN);
    case opcode::send:
      return uring::prepare_send(entry, d.fd, r.address, r.length, MSG_NOSIGNAL, poll_first_unless(d.writable));
    case opcode::send_message:
      return uring::prepare_send_message(entry, d.fd, r.address, MSG_NOSIGNAL, poll_first_unless(d.writable));
    case opcode::receive_message:
      return uring::prepare_receive_message(entry, d.fd, r.address, MSG_CMSG_CLOEXEC, poll_first_unless(d.readable));
    case opcode::receive_messages_many:
      if (!capabilities_.multishot_receive) return uring::prepare_poll(entry, d.fd, POLLIN);
      return uring::prepare_receive_message_multishot(entry, d.fd, &static_cast<const message_multishot&>(r).layout,
                                                      buffer_group, MSG_CMSG_CLOEXEC, uring::recvsend_poll_first);
    case opcode::raw:
      entry = static_cast<const raw_request&>(r).entry;
      return;
    case opcode::wait_bulk:  // urgent data, too, for `hangup`
      return uring::prepare_poll(entry, d.fd, POLLIN | POLLRDHUP | POLLPRI);
    case opcode::wait_readable:
      return uring::prepare_poll(entry, d.fd, POLLIN | POLLRDHUP);
    case opcode::wait_writable:
      return uring::prepare_poll(entry, d.fd, POLLOUT);
    default:
      return fill_file(entry, static_cast<const file_request&>(r));
  }
}

void uring_backend::cancel(request& r) noexcept {
  if (r.where != phase::in_flight || r.cancel_requested) return;
  r.cancel_requested = true;
  if (is_multishot(r.code)) --endless_;
  if (r.code == opcode::wait_bulk && (r.backend_state & state_in_hand) != 0) return;  // its turn comes soon
  if ((r.backend_state & state_in_hand) != 0)
    large_.note_cancel();
  else if ((r.backend_state & state_starved) != 0)
    starved_cancelled_ = true;
  else if ((r.backend_state & state_offloaded) != 0)
    offloaded_.cancel(static_cast<file_request&>(r));
  else
    queue_cancel(r);
}

// The entry comes after the request's own in the queue, so the kernel already knows the request when it gets there.
void uring_backend::queue_cancel(request& r) noexcept {
  r.backend_state |= state_cancel_unanswered;
  uring::submission& entry = next_entry();
  uring::prepare_cancel(entry, key_of(r));
  entry.user_data = key_of(r) | key_cancel;
}

}  // namespace gyre::io
