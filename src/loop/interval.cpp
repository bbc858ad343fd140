// src/loop/interval.cpp: when the next tick is due.
#include <gyre/loop/interval.hpp>

namespace gyre {

interval_tick_op::interval_tick_op(interval& ticking) noexcept
    : sleep_op(deadline_at(ticking.next_)), interval_(&ticking) {}

time_point interval_tick_op::await_resume() {
  sleep_op::await_resume();
  return interval_->advance();
}

time_point interval::advance() noexcept {
  const time_point due = next_;
  const time_point present = now();
  // A period too long to count leaves the next tick in the far future, where it was.
  const auto later = [](time_point from, std::chrono::nanoseconds by) {
    return by < time_point::max() - from ? from + by : time_point::max();
  };
  switch (missed_) {
    case missed_ticks::burst:
      next_ = later(due, period_);
      break;
    case missed_ticks::delay:
      next_ = later(present, period_);
      break;
    case missed_ticks::skip:
      next_ = later(due + (present - due) / period_ * period_, period_);
      break;
  }
  return due;
}

}  // namespace gyre
