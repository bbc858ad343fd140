// src/io/uring_end.cpp: the end of a ring with requests in flight.
#include <gyre/io/kernel.hpp>
#include <gyre/io/monotonic_clock.hpp>

#include "uring_backend.hpp"
#include "uring_key.hpp"

namespace gyre::io {

// At the end of the backend no completion is called. The memory of the request is free again.
void uring_backend::set_aside(request& r) noexcept {
  set_idle(r);
  if ((r.code == opcode::accept || r.code == opcode::open) && r.result >= 0) calls().files.close(r.result);
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
      if (r.code == opcode::accept_many && c.result >= 0) calls().files.close(c.result);
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
