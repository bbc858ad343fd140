// bench/micro/micro_tasks.cpp: nanoseconds per basic operation of tasks, without I/O.
// Aims: await ≤ 8, yield ≤ 5, spawn and finish ≤ 30, timer armed and cancelled ≤ 20.
#include <gyre/gyre.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using namespace std::chrono_literals;

[[gnu::noinline]] gyre::task<int> one(int value) { co_return value; }
[[gnu::noinline]] gyre::task<> nothing() { co_return; }

/// Runs `body(state)` as the main task of a loop. With virtual time, a sleep makes no system call.
template <class Body>
void run_on_loop(benchmark::State& state, Body body, bool virtual_time = false) {
  gyre::run_options options;
  options.loop.virtual_time = virtual_time;
  gyre::run([&]() -> gyre::task<> { co_await body(state); }, options);
}

void await_child(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    int sum = 0;
    for (auto _ : s) sum += co_await one(1);
    benchmark::DoNotOptimize(sum);
  });
}
BENCHMARK(await_child);

gyre::task<int> chain(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await chain(depth - 1);
}
void await_chain_of_100(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) benchmark::DoNotOptimize(co_await chain(99));
  });
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(await_chain_of_100);

void yield_alone(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) co_await gyre::yield();
  });
}
BENCHMARK(yield_alone);  // each resumption takes its own turn, which polls the kernel

/// One iteration is one yield by each task, so 100 tasks share the cost of the turn.
void yield_among_100_tasks(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    bool stop = false;
    std::vector<gyre::task_handle<void>> others;
    for (int i = 0; i < 99; ++i)
      others.push_back(gyre::spawn([&stop]() -> gyre::task<> {
        while (!stop) co_await gyre::yield();
      }));
    for (auto _ : s) co_await gyre::yield();
    stop = true;
    for (auto& each : others) co_await each;
  });
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(yield_among_100_tasks);

void spawn_and_finish(benchmark::State& state) {
  constexpr int at_once = 64;
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    while (s.KeepRunningBatch(at_once)) {
      for (int i = 0; i < at_once; ++i) gyre::spawn(nothing()).detach();
      while (gyre::event_loop::current().tasks() > 1) co_await gyre::yield();
    }
  });
}
BENCHMARK(spawn_and_finish);

void spawn_and_await(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) benchmark::DoNotOptimize(co_await gyre::spawn(one(1)));
  });
}
BENCHMARK(spawn_and_await);  // polls the kernel twice: the loop has nothing else to do

/// Only the wheel, while it holds as many other timers as on a busy server.
void timer_armed_and_cancelled(benchmark::State& state) {
  const auto others = static_cast<std::size_t>(state.range(0));
  gyre::timer_wheel wheel(0);
  const auto timers = std::make_unique<gyre::timer[]>(others + 1);
  for (std::size_t i = 0; i < others; ++i) {
    timers[i].deadline = static_cast<gyre::io::monotonic_time>(30'000'000'000 + i * 1'000);
    wheel.arm(timers[i]);
  }
  gyre::timer& t = timers[others];
  gyre::io::monotonic_time now = 0;
  for (auto _ : state) {
    t.deadline = ++now + 30'000'000'000;
    wheel.arm(t);
    benchmark::ClobberMemory();
    wheel.disarm(t);
  }
  for (std::size_t i = 0; i < others; ++i) wheel.disarm(timers[i]);
}
BENCHMARK(timer_armed_and_cancelled)->Arg(0)->Arg(10'000);

void timer_armed_and_fired(benchmark::State& state) {
  gyre::timer_wheel wheel(0);
  gyre::timer t;
  t.fire = [](gyre::timer&) noexcept {};
  gyre::io::monotonic_time now = 0;
  for (auto _ : state) {
    t.deadline = now + 1'000'000;
    wheel.arm(t);
    now = wheel.next_deadline();
    wheel.advance(now);
  }
}
BENCHMARK(timer_armed_and_fired);

void sleep_in_virtual_time(benchmark::State& state) {
  run_on_loop(
      state,
      [](benchmark::State& s) -> gyre::task<> {
        for (auto _ : s) co_await gyre::sleep(1ms);
      },
      true);
}
BENCHMARK(sleep_in_virtual_time);

void gather_of_2(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) {
      auto both = gyre::gather(one(1), one(2));
      benchmark::DoNotOptimize((co_await std::move(both)).get<0>());
    }
  });
}
BENCHMARK(gather_of_2);

void race_of_2(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) {
      auto race = gyre::race(one(1), one(2));
      benchmark::DoNotOptimize((co_await std::move(race)).index);
    }
  });
}
BENCHMARK(race_of_2);

void timeout_around_a_ready_task(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    for (auto _ : s) benchmark::DoNotOptimize(co_await gyre::timeout(1s, one(1)));
  });
}
BENCHMARK(timeout_around_a_ready_task);

gyre::task<int> throws(int depth) {
  if (depth <= 1) throw std::runtime_error("bottom");
  co_return co_await throws(depth - 1);
}
void exception_through(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    const int depth = static_cast<int>(s.range(0));
    for (auto _ : s) {
      try {
        (void)co_await throws(depth);
      } catch (const std::runtime_error& error) {
        benchmark::DoNotOptimize(&error);
      }
    }
  });
}
BENCHMARK(exception_through)->Arg(1)->Arg(5)->Arg(20);

}  // namespace
