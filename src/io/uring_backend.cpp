// src/io/uring_backend.cpp: requests into the ring, completions out of it.
#include "uring_backend.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace gyre::io {
namespace {

constexpr std::uint16_t group = 0;
constexpr std::uint32_t first_share = 64;  // buffers that the kernel gets to begin with
constexpr unsigned looks_that_may_be_skipped = 8;

// user_data is the address of the request, with what kind it is in the low bits; small numbers are nobody's.
constexpr std::uint64_t tag_multishot = 1;
constexpr std::uint64_t tag_cancel = 2;  // of a cancel: the address is that of its target, which may be gone
constexpr std::uint64_t tag_mask = 7;
constexpr std::uint64_t ignored = 8;
constexpr std::uint64_t doorbell_rang = 16;

bool is_multishot(const request& r) noexcept { return r.code == opcode::receive_many || r.code == opcode::accept_many; }

std::uint64_t key_of(const request& r) noexcept {
  return reinterpret_cast<std::uintptr_t>(&r) | (is_multishot(r) ? tag_multishot : 0);
}

// A connection that was given up before it was accepted says nothing about the listener.
bool passes_by_itself(int error) noexcept { return error == ECONNABORTED || error == EPROTO || error == EINTR; }

}  // namespace

uring_backend::uring_backend(const backend_options& options, const uring::capabilities& allowed,
                             uring::refusal& refused)
    : backend(options.buffer_count, options.buffer_size) {
  uring::ring_options wanted;
  wanted.submission_entries = options.submission_entries;
  wanted.completion_entries = options.completion_entries;
  batches_ = true;
  refused = uring::open_ring(ring_, wanted);
  if (refused.error == 0) refused = uring::self_test(ring_).run(capabilities_);
  if (refused.error != 0) return;
  capabilities_.multishot_accept &= allowed.multishot_accept;
  capabilities_.multishot_receive &= allowed.multishot_receive;
  if (const int error = provided_.open(ring_, group, buffers().count()); error != 0) {
    refused = {error, "io_uring_register: provided buffers"};
    return;
  }
  doorbell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (doorbell_ < 0) {
    refused = {errno, "eventfd"};
    return;
  }
  wanted_with_kernel_ = std::min(first_share, buffers().count());
  refill_buffers();
  arm_doorbell();
}

uring_backend::~uring_backend() {
  // The kernel may write into buffers until it has confirmed the cancel.
  if (ring_ && in_flight_ > 0) {
    uring::submission& entry = next_entry();
    uring::prepare_cancel_everything(entry);
    entry.user_data = ignored;
    ready_list nobody;
    for (int tries = 0; in_flight_ > 0 && tries < 1000; ++tries) {
      ring_.enter(0);
      reap(nobody);
    }
  }
  ring_.close();
  if (doorbell_ >= 0) ::close(doorbell_);
}

void uring_backend::attach(descriptor& d) noexcept { d.attached = true; }
void uring_backend::detach(descriptor& d) noexcept { d.attached = false; }

uring::submission& uring_backend::next_entry() noexcept {
  for (;;) {
    if (uring::submission* const entry = ring_.next_submission()) return *entry;
    ring_.enter(0);  // the queue is full: everything in it is consumed by the call
  }
}

void uring_backend::submit(request& r) noexcept {
  r.where = phase::in_flight;
  r.cancel_requested = false;
  ++in_flight_;
  ++r.target->in_flight;
  queue(r);
}

void uring_backend::queue(request& r) noexcept {
  uring::submission& entry = next_entry();
  fill(entry, r);
  entry.user_data = key_of(r);
}

void uring_backend::fill(uring::submission& entry, request& r) noexcept {
  const descriptor& d = *r.target;
  // Where an attempt is known to be vain the kernel need not make it either.
  const std::uint16_t when_readable = static_cast<std::uint16_t>(d.readable ? 0 : +uring::recvsend_poll_first);
  const std::uint16_t when_writable = static_cast<std::uint16_t>(d.writable ? 0 : +uring::recvsend_poll_first);
  switch (r.code) {
    case opcode::accept:
      uring::prepare_accept(entry, d.fd, SOCK_NONBLOCK | SOCK_CLOEXEC);
      break;
    case opcode::accept_many:
      if (capabilities_.multishot_accept)
        uring::prepare_accept_multishot(entry, d.fd, SOCK_NONBLOCK | SOCK_CLOEXEC);
      else
        uring::prepare_accept(entry, d.fd, SOCK_NONBLOCK | SOCK_CLOEXEC);
      break;
    case opcode::connect:
      uring::prepare_connect(entry, d.fd, r.address, r.length);
      break;
    case opcode::receive:
      uring::prepare_receive(entry, d.fd, r.address, r.length, 0, when_readable);
      break;
    case opcode::receive_many:
      if (capabilities_.multishot_receive)
        uring::prepare_receive_multishot(entry, d.fd, group, uring::recvsend_poll_first);
      else
        uring::prepare_receive_selected(entry, d.fd, group, uring::recvsend_poll_first);
      break;
    case opcode::send:
      uring::prepare_send(entry, d.fd, r.address, r.length, MSG_NOSIGNAL, when_writable);
      break;
    case opcode::send_message:
      uring::prepare_send_message(entry, d.fd, r.address, MSG_NOSIGNAL, when_writable);
      break;
    case opcode::wait_readable:
      uring::prepare_poll(entry, d.fd, POLLIN | POLLRDHUP);
      break;
    case opcode::wait_writable:
      uring::prepare_poll(entry, d.fd, POLLOUT);
      break;
  }
}

void uring_backend::cancel(request& r) noexcept {
  if (r.where != phase::in_flight || r.cancel_requested) return;
  r.cancel_requested = true;
  if (is_multishot(r)) {
    auto& m = static_cast<multishot&>(r);
    if (const auto found = std::find(starved_.begin(), starved_.end(), &m); found != starved_.end()) {
      starved_.erase(found);  // the kernel does not have it
      end_multishot(m);
      hand_over(m, -ECANCELED, multishot::no_buffer, early_);
      return;
    }
  }
  cancelling_.push_back(&r);
  queue_cancel(r);
}

void uring_backend::queue_cancel(request& r) noexcept {
  uring::submission& entry = next_entry();
  uring::prepare_cancel(entry, key_of(r));
  entry.flags = uring::sqe_cqe_skip_success;
  entry.user_data = reinterpret_cast<std::uintptr_t>(&r) | tag_cancel;
}

// A cancel has failed. Mostly its target has just completed. But when the target runs in a thread of the kernel (a send
// under memory pressure ends there) the interruption may have come before the thread waits, and be lost; what
// the cancel answers then is no different. So it is repeated as long as the target is in flight.
void uring_backend::cancel_failed(std::uint64_t target) noexcept {
  for (request* each : cancelling_)
    if (reinterpret_cast<std::uintptr_t>(each) == target) queue_cancel(*each);
}

void uring_backend::arm_doorbell() noexcept {
  uring::submission& entry = next_entry();
  uring::prepare_poll_multishot(entry, doorbell_, POLLIN);
  entry.user_data = doorbell_rang;
  doorbell_armed_ = true;
}

void uring_backend::wake() noexcept {
  // Never read: each write rings again. When the counter is full a read makes room for the next.
  const std::uint64_t one = 1;
  const int saved = errno;  // also called from signal handlers
  if (::write(doorbell_, &one, sizeof(one)) < 0 && errno == EAGAIN) {
    std::uint64_t value = 0;
    (void)!::read(doorbell_, &value, sizeof(value));
    (void)!::write(doorbell_, &one, sizeof(one));
  }
  errno = saved;
}

void uring_backend::refill_buffers() noexcept {
  buffer_pool& pool = buffers();
  if (with_kernel_ >= wanted_with_kernel_ || pool.available() == 0) return;
  while (with_kernel_ < wanted_with_kernel_) {
    const std::uint32_t index = pool.take();
    if (index == buffer_pool::none) break;
    provided_.add(pool.data(index), pool.buffer_size(), static_cast<std::uint16_t>(index));
    ++with_kernel_;
  }
  provided_.publish();
}

// First come, first served; only when there are buffers again, or each would fail at once.
void uring_backend::rearm_starved() noexcept {
  if (starved_.empty() || with_kernel_ == 0) return;
  std::deque<multishot*> again;
  again.swap(starved_);
  for (multishot* m : again) queue(*m);
}

void uring_backend::wait(monotonic_time deadline, ready_list& ready) noexcept {
  refill_buffers();
  rearm_starved();
  if (!doorbell_armed_) arm_doorbell();
  const bool something = !early_.empty() || ring_.ready() > 0;
  ready.splice_back(early_);
  if (deadline != do_not_wait && !something) {
    skipped_looks_ = 0;
    ring_.enter(1, deadline);
  } else if (ring_.unsubmitted() > 0 || (ring_.queue_flags() & (uring::sq_taskrun | uring::sq_cq_overflow)) != 0 ||
             ++skipped_looks_ >= looks_that_may_be_skipped) {
    skipped_looks_ = 0;
    ring_.enter(0);
  }
  reap(ready);
}

void uring_backend::reap(ready_list& ready) noexcept {
  const std::uint32_t count = ring_.ready();
  for (std::uint32_t i = 0; i < count; ++i) {
    const uring::completion& c = ring_.at(i);
    if (i + 1 < count) __builtin_prefetch(reinterpret_cast<void*>(ring_.at(i + 1).user_data & ~tag_mask));
    if (c.user_data == ignored) continue;
    if (c.user_data == doorbell_rang) {
      doorbell_armed_ = (c.flags & uring::cqe_more) != 0;
      continue;
    }
    if ((c.user_data & tag_mask) == tag_cancel) {
      cancel_failed(c.user_data & ~tag_mask);
      continue;
    }
    auto* const r = reinterpret_cast<request*>(c.user_data & ~tag_mask);
    if ((c.user_data & tag_mask) == tag_multishot)
      deliver_many(static_cast<multishot&>(*r), c.result, c.flags, ready);
    else
      finish_one(*r, c.result, c.flags, ready);
  }
  if (count > 0) ring_.advance(count);
}

void uring_backend::finish_one(request& r, int result, std::uint32_t flags, ready_list& ready) noexcept {
  descriptor& d = *r.target;
  if (result == -EINTR) {  // of a cancel, or of a signal that concerns nobody here
    if (!r.cancel_requested) {
      queue(r);
      return;
    }
    result = -ECANCELED;
  }
  if (r.code == opcode::receive) {
    d.readable = (flags & uring::cqe_sock_nonempty) != 0;
  } else if (r.code == opcode::send || r.code == opcode::send_message) {
    d.writable = r.code != opcode::send || result < 0 || static_cast<std::uint32_t>(result) == r.length;
  } else if ((r.code == opcode::wait_readable || r.code == opcode::wait_writable) && result > 0) {
    result = 0;  // the events; both backends say 0
  }
  r.result = result;
  r.where = phase::idle;
  --in_flight_;
  --d.in_flight;
  if (r.cancel_requested) [[unlikely]]
    std::erase(cancelling_, &r);
  ready.push_back(r);
}

void uring_backend::end_multishot(multishot& m) noexcept {
  m.where = phase::idle;
  --in_flight_;
  --m.target->in_flight;
  if (m.cancel_requested) std::erase(cancelling_, &m);
}

void uring_backend::hand_over(multishot& m, int result, std::uint32_t buffer, ready_list& ready) noexcept {
  m.deliver(m, result, buffer);
  if (m.listed) return;
  m.listed = true;
  ready.push_back(m);
}

// What a completion brings and whether more will come are independent of each other.
void uring_backend::deliver_many(multishot& m, int result, std::uint32_t flags, ready_list& ready) noexcept {
  const bool more = (flags & uring::cqe_more) != 0;
  const bool accepts = m.code == opcode::accept_many;
  std::uint32_t buffer = multishot::no_buffer;
  if ((flags & uring::cqe_buffer) != 0) {
    buffer = flags >> uring::cqe_buffer_shift;
    --with_kernel_;
    if (result <= 0) {  // a buffer was taken and not used
      buffers().release(buffer);
      buffer = multishot::no_buffer;
    }
  }
  if (!more && result == -ENOBUFS && !accepts) {
    if (m.cancel_requested) {
      result = -ECANCELED;
    } else {
      starved_.push_back(&m);
      wanted_with_kernel_ = std::min(wanted_with_kernel_ * 2, buffers().count());
      return;
    }
  }
  if (accepts && result < 0 && passes_by_itself(-result)) {
    if (!more && !m.cancel_requested) queue(m);
    if (more || !m.cancel_requested) return;
    result = -ECANCELED;
  }
  if (!more) {
    // Without the multishot form of the operation one result ends it: it goes on by itself for its owner.
    const bool emulated = accepts ? !capabilities_.multishot_accept : !capabilities_.multishot_receive;
    const bool goes_on = emulated && !m.cancel_requested && (accepts ? result >= 0 : result > 0);
    if (goes_on)
      queue(m);
    else
      end_multishot(m);
  }
  hand_over(m, result, buffer, ready);
}

}  // namespace gyre::io
