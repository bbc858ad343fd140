// src/loop/shared_thread.cpp: a loop that drives the loop of another library, or is called by it.
#include <gyre/loop/event_loop.hpp>

#include "mailbox.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

namespace gyre {

void event_loop::wait_in_guest(io::monotonic_time deadline) noexcept {
  const io::monotonic_time until = backend_->prepare_wait(deadline, ready_);
  if (until == io::do_not_wait) return;
  guest_->wait(backend_->pollable(), until);
  backend_->wait(io::do_not_wait, ready_);
}

void event_loop::drive(guest_loop& guest) {
  check_thread("drive");
  if (guest_ != nullptr) throw std::logic_error("event_loop::drive: this loop drives another one already");
  if (virtual_)
    throw std::logic_error("event_loop::drive: not on virtual time, which would not wait for the other loop");
  if (const int descriptor = backend_->pollable(); descriptor < 0)
    throw std::system_error(-descriptor, std::generic_category(), "event_loop::drive");
  guest_ = &guest;
}

void event_loop::leave(const guest_loop& guest) noexcept {
  check_thread("leave");
  if (guest_ == &guest) guest_ = nullptr;
}

int event_loop::descriptor() {
  if (virtual_)
    throw std::logic_error("event_loop::descriptor: not on virtual time, which would not wait for the other loop");
  if (guest_ != nullptr) throw std::logic_error("event_loop::descriptor: this loop drives another one itself");
  const int descriptor = backend_->pollable();
  if (descriptor < 0) throw std::system_error(-descriptor, std::generic_category(), "event_loop::descriptor");
  return descriptor;
}

std::optional<std::chrono::nanoseconds> event_loop::turn_in_host() {
  using std::chrono::nanoseconds;
  check_thread("turn_in_host");
  (void)descriptor();
  mailbox_->sleeping.store(false, std::memory_order_seq_cst);
  turn(false);
  if (!ready_.empty()) return nanoseconds(0);
  mailbox_->sleeping.store(true, std::memory_order_seq_cst);  // until the next call; see wait_until
  if (!mailbox_->posted.empty()) return nanoseconds(0);
  const io::monotonic_time until = backend_->prepare_wait(timers_.next_deadline(), ready_);
  if (until == io::do_not_wait || !ready_.empty()) return nanoseconds(0);
  if (until == io::wait_forever) return std::nullopt;
  return nanoseconds(std::max<io::monotonic_time>(0, until - now()));
}

}  // namespace gyre
