// src/io/epoll_backend.cpp: submits and cancels requests, attaches and detaches descriptors.
#include <gyre/io/kernel.hpp>

#include "epoll_backend.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace gyre::io {

bool connects_locally(const request& r) noexcept {
  return r.code == opcode::connect && r.length >= sizeof(sa_family_t) &&
         static_cast<const sockaddr*>(r.address)->sa_family == AF_UNIX;
}

epoll_backend::epoll_backend(const backend_options& options, uring::refusal& refused)
    : backend({.count = options.buffer_count, .size = options.buffer_size},
              {.count = options.large_buffer_count, .size = options.large_buffer_size}) {
  refused = open();
}

uring::refusal epoll_backend::open() noexcept {
  epoll_ = calls().files.epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return {errno, "epoll_create1"};
  doorbell_ = calls().files.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (doorbell_ < 0) return {errno, "eventfd2"};
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, doorbell_, &event) < 0) return {errno, "epoll_ctl"};
  // The default timer slack of a thread, 50 us, would make every sleep that much late.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  return try_wait();
}

// Requests still in flight are dropped without a completion. Their memory is free again: no call uses it any more.
epoll_backend::~epoll_backend() {
  if (files_.outstanding()) settle_files();
  while (!completed_.empty()) {
    auto& r = static_cast<request&>(completed_.pop_front());
    if (is_multishot(r.code))
      static_cast<multishot&>(r).listed = false;
    else
      no_longer_in_flight(r);
  }
  while (!bulk_.empty()) no_longer_in_flight(static_cast<request&>(bulk_.pop_front()));
  while (!turn_.empty()) settle(&turn_.pop_front());
  while (!large_.empty()) settle(&large_.pop_front());
  for (descriptor* d : registered_) {
    if (d == nullptr) continue;
    settle(d->reader);
    settle(d->writer);
    d->attached = false;
  }
  if (epoll_ >= 0) calls().files.close(epoll_);
  if (doorbell_ >= 0) calls().files.close(doorbell_);
}

void epoll_backend::settle_files() noexcept {
  ready_list ended;
  files_.settle(ended);
  while (!ended.empty()) {
    auto& r = static_cast<request&>(ended.pop_front());
    if (r.code == opcode::open && r.result >= 0) calls().files.close(r.result);
    r.result = -ECANCELED;
    no_longer_in_flight(r);
  }
}

void epoll_backend::settle(request* r) noexcept {
  if (r == nullptr || r->where == phase::idle) return;
  parking_place(*r) = nullptr;
  r->result = -ECANCELED;
  no_longer_in_flight(*r);
  if (is_multishot(r->code)) {
    auto& m = static_cast<multishot&>(*r);
    m.deliver(m, -ECANCELED, multishot::no_buffer);
  }
}

// Returns an errno, or 0 when the descriptor is registered or needs no registration.
int epoll_backend::add(descriptor& d) noexcept {
  if (d.fd < 0) return EBADF;
  const auto number = static_cast<std::size_t>(d.fd);
  try {
    if (registered_.size() <= number) registered_.resize(std::max(number + 1, 2 * registered_.size()));
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET, .data = {.ptr = &d}};
  ++system_calls_;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, d.fd, &event) < 0) {
    if (errno != EPERM) return errno;
    // A file that cannot be polled (a regular file) never blocks either.
    d.readable = d.writable = true;
    return 0;
  }
  d.attached = true;
  registered_[number] = &d;
  ++registered_count_;
  return 0;
}

// A failure is reported by the first request that needs the registration.
void epoll_backend::attach(descriptor& d) noexcept {
  if (!d.attached) (void)add(d);
}

void epoll_backend::detach(descriptor& d) noexcept {
  if (!d.attached) return;
  ++system_calls_;
  // Explicit, because a duplicate of the descriptor elsewhere would keep the registration alive after close.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, d.fd, nullptr);
  registered_[static_cast<std::size_t>(d.fd)] = nullptr;
  --registered_count_;
  // The next owner of the descriptor, or the next file with its number, learns of readiness anew.
  d.attached = d.readable = d.hangup = false;
  d.writable = true;
  forget_events_of(d);
}

void epoll_backend::submit(request& r) noexcept {
  r.where = phase::in_flight;
  r.cancel_requested = false;
  ++in_flight_;
  descriptor& d = *r.target;
  ++d.in_flight;
  if (concerns_file(r.code)) return files_.submit(static_cast<file_request&>(r));
  if (r.code == opcode::raw) {
    r.result = -EOPNOTSUPP;
    completed_.push_back(r);
    return;
  }
  parking_place(r) = &r;
  const int error = d.attached ? 0 : add(d);
  if (is_multishot(r.code)) {
    ++endless_;
    submit_multishot(static_cast<multishot&>(r), error);
    return;
  }
  if (error != 0) {
    complete(r, -error);
    return;
  }
  if (r.code == opcode::connect) d.hangup = false;  // an unconnected socket reports a hang-up
  // A connect has to be started, and a wait has to check at once, because the edge may be long gone.
  const bool must_try = r.code == opcode::connect || r.code == opcode::wait_readable ||
                        (r.code == opcode::wait_writable && r.length != found_no_room);
  if (must_try || (reads(r.code) ? d.readable : d.writable)) go_on(r);
}

// Tries a parked request on a descriptor that is believed ready.
void epoll_backend::go_on(request& r) noexcept {
  if (r.code == opcode::wait_bulk) return line_up(r);
  if (r.code == opcode::wait_writable && r.length == found_no_room) return complete(r, 0);
  ++system_calls_;
  if (attempt(r))
    complete(r, r.result);
  else if (connects_locally(r))
    later_.push_back(r);
}

void epoll_backend::complete(request& r, int result) noexcept {
  parking_place(r) = nullptr;
  if (r.code == opcode::receive_into) note_received(result);
  r.result = result;
  completed_.push_back(r);
}

void epoll_backend::line_up(request& r) noexcept {
  parking_place(r) = nullptr;
  r.result = 0;
  bulk_.push_back(r);
}

void epoll_backend::no_longer_in_flight(request& r) noexcept {
  r.where = phase::idle;
  --in_flight_;
  --r.target->in_flight;
}

void epoll_backend::cancel(request& r) noexcept {
  if (r.where != phase::in_flight || r.cancel_requested) return;
  if (concerns_file(r.code)) {
    r.cancel_requested = true;
    return files_.cancel(static_cast<file_request&>(r));
  }
  if (parking_place(r) != &r) return;  // done, and about to be handed out: success beats cancel
  r.cancel_requested = true;
  if (is_multishot(r.code)) {
    --endless_;
    cancel_multishot(static_cast<multishot&>(r));
    return;
  }
  if (connects_locally(r)) {
    ready_list others;
    others.splice_back(later_);
    while (!others.empty())
      if (completion& each = others.pop_front(); &each != &r) later_.push_back(each);
  }
  complete(r, -ECANCELED);
}

}  // namespace gyre::io
