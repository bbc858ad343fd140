// bench/micro/micro_tasks.cpp: nanoseconds per basic operation of tasks, without I/O.
// Aims: await ≤ 8, yield ≤ 5, spawn and finish ≤ 30, timer armed and cancelled ≤ 20.
#include "bench/micro/report.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

[[gnu::noinline]] gyre::task<int> one(int value) { co_return value; }
[[gnu::noinline]] gyre::task<> nothing() { co_return; }

gyre::task<> await_child(long n) {
  int sum = 0;
  for (long i = 0; i < n; ++i) sum += co_await one(1);
  bench::keep(sum);
}

gyre::task<int> chain(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await chain(depth - 1);
}
/// A chain of 100 tasks is 100 operations.
gyre::task<> await_in_a_chain(long n) {
  for (long i = 0; i < n; i += 100) bench::keep(co_await chain(99));
}

/// 100 tasks share the cost of a turn of the loop. A yield alone takes one of its own, which polls the kernel.
gyre::task<> yield_among_100_tasks(long n) {
  bool stop = false;
  std::vector<gyre::task_handle<void>> others;
  for (int i = 0; i < 99; ++i)
    others.push_back(gyre::spawn([&stop]() -> gyre::task<> {
      while (!stop) co_await gyre::yield();
    }));
  for (long i = 0; i < n; i += 100) co_await gyre::yield();
  stop = true;
  for (auto& each : others) co_await each;
}

gyre::task<> spawn_and_finish(long n) {
  constexpr int at_once = 64;
  for (long i = 0; i < n; i += at_once) {
    for (int j = 0; j < at_once; ++j) gyre::spawn(nothing()).detach();
    while (gyre::event_loop::current().tasks() > 1) co_await gyre::yield();
  }
}

/// Only the wheel, while it holds as many other timers as on a busy server.
void arm_and_cancel_timers(std::size_t others, long n) {
  gyre::timer_wheel wheel(0);
  const auto timers = std::make_unique<gyre::timer[]>(others + 1);
  for (std::size_t i = 0; i < others; ++i) {
    timers[i].deadline = static_cast<gyre::io::monotonic_time>(30'000'000'000 + i * 1'000);
    wheel.arm(timers[i]);
  }
  gyre::timer& t = timers[others];
  for (gyre::io::monotonic_time now = 1; now <= n; ++now) {
    t.deadline = now + 30'000'000'000;
    wheel.arm(t);
    bench::keep(t);
    wheel.disarm(t);
  }
  for (std::size_t i = 0; i < others; ++i) wheel.disarm(timers[i]);
}

void arm_and_fire_timers(long n) {
  gyre::timer_wheel wheel(0);
  gyre::timer t;
  t.fire = [](gyre::timer&) noexcept {};
  gyre::io::monotonic_time now = 0;
  for (long i = 0; i < n; ++i) {
    t.deadline = now + 1'000'000;
    wheel.arm(t);
    now = wheel.next_deadline();
    wheel.advance(now);
  }
}

gyre::task<> sleep_in_virtual_time(long n) {
  for (long i = 0; i < n; ++i) co_await gyre::sleep(1ms);
}

gyre::task<> gather_of_2(long n) {
  for (long i = 0; i < n; ++i) {
    auto both = gyre::gather(one(1), one(2));
    bench::keep((co_await std::move(both)).get<0>());
  }
}

gyre::task<> race_of_2(long n) {
  for (long i = 0; i < n; ++i) {
    auto race = gyre::race(one(1), one(2));
    bench::keep((co_await std::move(race)).index);
  }
}

gyre::task<> timeout_around_a_ready_task(long n) {
  for (long i = 0; i < n; ++i) bench::keep(co_await gyre::timeout(1s, one(1)));
}

gyre::task<int> throws(int depth) {
  if (depth <= 1) throw std::runtime_error("bottom");
  co_return co_await throws(depth - 1);
}
gyre::task<> exception_through(int depth, long n) {
  for (long i = 0; i < n; ++i) {
    try {
      (void)co_await throws(depth);
    } catch (const std::runtime_error& error) {
      bench::keep(&error);
    }
  }
}

gyre::task<> all() {
  co_await bench::report("await_child", await_child);
  co_await bench::report("await_in_a_chain", await_in_a_chain);
  co_await bench::report("yield_among_100_tasks", yield_among_100_tasks);
  co_await bench::report("spawn_and_finish", spawn_and_finish);
  co_await bench::report("gather_of_2", gather_of_2);
  co_await bench::report("race_of_2", race_of_2);
  co_await bench::report("timeout_ready_task", timeout_around_a_ready_task);
  co_await bench::report("exception_through_1", exception_through, 1);
  co_await bench::report("exception_through_5", exception_through, 5);
  co_await bench::report("exception_through_20", exception_through, 20);
}

}  // namespace

int main() {
  gyre::run(all());
  gyre::run_options options;
  options.loop.virtual_time = true;  // a sleep makes no system call
  gyre::run(bench::report("sleep_in_virtual_time", sleep_in_virtual_time), options);
  bench::measure("timer_cancelled", [](long n) { arm_and_cancel_timers(0, n); });
  bench::measure("timer_cancelled_of_10000", [](long n) { arm_and_cancel_timers(10'000, n); });
  bench::measure("timer_fired", arm_and_fire_timers);
}
