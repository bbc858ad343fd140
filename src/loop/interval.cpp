// src/loop/interval.cpp: computes when the next tick is due.
#include <gyre/loop/interval.hpp>

#include <utility>

namespace gyre {

void interval_tick_op::start() noexcept {
  interval_->owner_.expect_own("tick");
  if (std::exchange(interval_->waiting_, this) != nullptr)
    misuse("two tasks wait for the tick of one interval at the same time: make an interval for each task");
  fire = call_member<&interval_tick_op::on_time>;
  arm();
}

void interval_tick_op::on_time() noexcept {
  due_ = interval_->next_;
  finish_soon();
}

void interval_tick_op::on_cancel() noexcept {
  if (!armed()) return;  // it has fired and is about to be resumed: success beats cancel
  event_loop::current().timers().disarm(*this);
  cancelled_ = true;
  finish_soon();
}

void interval_tick_op::arm() noexcept {
  deadline = deadline_at(interval_->next_);
  event_loop::current().timers().arm(*this);
}

time_point interval_tick_op::await_resume() {
  interval_->waiting_ = nullptr;
  if (cancelled_) throw_cancelled();
  if (interval_->next_ == due_) interval_->advance();  // otherwise it was reset after this tick
  return due_;
}

void interval::reset() noexcept {
  owner_.expect_own("reset");
  next_ = after_now();
  if (waiting_ == nullptr || !waiting_->armed()) return;
  event_loop::current().timers().disarm(*waiting_);
  waiting_->arm();
}

void interval::advance() noexcept {
  const time_point due = next_;
  const time_point present = now();
  // If the period is too long to add, the next tick stays in the far future.
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
}

}  // namespace gyre
