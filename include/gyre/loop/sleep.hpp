// gyre/loop/sleep.hpp: waits for a time or a duration.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/operation.hpp>

#include <chrono>

namespace gyre {

class [[nodiscard("co_await it")]] sleep_op : public operation<sleep_op>, private timer {
 public:
  explicit sleep_op(io::monotonic_time until) noexcept { deadline = until; }

  bool try_now() noexcept { return false; }
  void start() noexcept {
    fire = call_member<&sleep_op::on_time>;
    event_loop::current().timers().arm(*this);
  }
  void on_cancel() noexcept {
    if (!armed()) return;  // it has fired and is about to be resumed: success wins over cancel
    event_loop::current().timers().disarm(*this);
    cancelled_ = true;
    finish_soon();
  }
  void await_resume() const {
    if (cancelled_) [[unlikely]]
      throw cancelled{};  // in line: one frame more to unwind costs a sixth of the end of the task
  }

 private:
  void on_time() noexcept { finish_soon(); }

  bool cancelled_ = false;
};

/// Waits until the loop's clock has reached `when`, never less. A time in the past yields once.
///
/// Cancel: wakes at once and throws; nothing else happens.
[[nodiscard]] inline sleep_op sleep_until(time_point when) noexcept { return sleep_op(deadline_at(when)); }

/// Waits for at least `duration`, counted from this call. Fractions of a nanosecond are rounded up.
///
/// Cancel: wakes at once and throws; nothing else happens.
template <class Rep, class Period>
[[nodiscard]] sleep_op sleep(std::chrono::duration<Rep, Period> duration) noexcept {
  return sleep_op(deadline_after(duration));
}

}  // namespace gyre
