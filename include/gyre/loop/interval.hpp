// gyre/loop/interval.hpp: a periodic timer.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <chrono>

namespace gyre {

/// The treatment of ticks that were not awaited in time.
enum class missed_ticks {
  skip,   ///< missed ticks are dropped: the next tick is the next future one of the schedule
  burst,  ///< missed ticks follow one after the other, without waiting
  delay,  ///< the schedule moves: the next tick comes one period after the late one was awaited
};

class interval;

/// The operation of tick(): waits for the next tick.
class GYRE_API [[nodiscard("co_await it")]] interval_tick_op : public operation<interval_tick_op>, private timer {
 public:
  explicit interval_tick_op(interval& ticking) noexcept : interval_(&ticking) {}
  bool try_now() noexcept { return false; }
  void start() noexcept;
  void on_cancel() noexcept;
  time_point await_resume();

 private:
  friend class interval;
  void arm() noexcept;
  void on_time() noexcept;

  interval* interval_;
  time_point due_;  // set when it has fired
  bool cancelled_ = false;
};

/// Ticks at a fixed period, however long the work between two ticks takes:
///
///   gyre::interval every_second(1s);
///   while (true) {
///     co_await every_second.tick();
///     report();
///   }
///
/// The first tick comes one period after the interval was made. Thread: belongs to one loop.
/// Lifetime: must outlive its ticks; the program is stopped otherwise.
class GYRE_API interval {
 public:
  /// Stops the program when the period is not positive.
  template <class Rep, class Period>
  explicit interval(std::chrono::duration<Rep, Period> period, missed_ticks missed = missed_ticks::skip)
      : period_(whole_nanoseconds(period)), missed_(missed), next_(after_now()) {
    if (period_ <= std::chrono::nanoseconds::zero()) misuse("an interval needs a period of more than zero");
  }
  interval& operator=(interval&&) = delete;
  ~interval() {
    if (waiting_ != nullptr)
      misuse("an interval was destroyed while a task waits for its tick: let that task end before");
  }

  /// Waits until the next tick is due and returns its scheduled time. A tick that is due already yields once, so that
  /// other tasks run. Overlap: one task at a time; a second one stops the program with a message.
  ///
  /// Cancel: wakes at once and throws; the tick remains the next one.
  [[nodiscard("co_await it")]] interval_tick_op tick() noexcept { return interval_tick_op(*this); }

  /// Restarts the schedule: the next tick comes one period from now, even if a task is waiting for it.
  void reset() noexcept;
  [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return period_; }

 private:
  friend class interval_tick_op;
  [[nodiscard]] time_point after_now() const noexcept {
    return time_point(std::chrono::nanoseconds(deadline_after(period_)));
  }
  void advance() noexcept;

  std::chrono::nanoseconds period_;
  missed_ticks missed_;
  owner_loop_of<"an interval"> owner_;
  time_point next_;
  interval_tick_op* waiting_ = nullptr;  // until its task resumes
};

}  // namespace gyre
