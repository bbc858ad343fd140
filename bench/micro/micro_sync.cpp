// bench/micro/micro_sync.cpp: nanoseconds per synchronization and hand-over between tasks, without I/O.
// Aims: uncontended mutex ≤ 15, a channel hand-over between two tasks ≤ 30.
#include <gyre/gyre.hpp>

#include <benchmark/benchmark.h>

namespace {

template <class Body>
void run_on_loop(benchmark::State& state, Body body) {
  gyre::run([&]() -> gyre::task<> { co_await body(state); });
}

void mutex_uncontended(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    gyre::mutex mutex;
    for (auto _ : s) {
      co_await mutex.lock();
      mutex.unlock();
    }
  });
}
BENCHMARK(mutex_uncontended);

void mutex_scoped(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    gyre::mutex mutex;
    for (auto _ : s) const auto guard = co_await mutex.scoped_lock();
  });
}
BENCHMARK(mutex_scoped);

/// One iteration hands the mutex to the other task and gets it back.
void mutex_hand_over_between_two_tasks(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    gyre::mutex mutex;
    bool stop = false;
    co_await mutex.lock();
    auto other = gyre::spawn([&]() -> gyre::task<> {
      while (!stop) {
        co_await mutex.lock();
        mutex.unlock();
      }
    });
    co_await gyre::yield();
    for (auto _ : s) {
      mutex.unlock();
      co_await mutex.lock();
    }
    stop = true;
    mutex.unlock();
    co_await other;
  });
}
BENCHMARK(mutex_hand_over_between_two_tasks);

void semaphore_uncontended(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    gyre::counting_semaphore slots(1);
    for (auto _ : s) {
      co_await slots.acquire();
      slots.release();
    }
  });
}
BENCHMARK(semaphore_uncontended);

/// One iteration passes one item from one task to another through a channel.
template <class Channel>
void hand_over(benchmark::State& state, std::size_t capacity) {
  run_on_loop(state, [capacity](benchmark::State& s) -> gyre::task<> {
    Channel channel(capacity);
    auto producer = gyre::spawn([&]() -> gyre::task<> {
      try {
        for (int i = 0;; ++i) co_await channel.send(i);
      } catch (const gyre::channel_closed&) {  // the measurement is over
      }
    });
    for (auto _ : s) {
      const auto item = co_await channel.receive();
      benchmark::DoNotOptimize(item);
    }
    channel.close();
    co_await producer;
  });
}
void channel_rendezvous(benchmark::State& state) { hand_over<gyre::channel<int>>(state, 0); }
BENCHMARK(channel_rendezvous);
void channel_of_1(benchmark::State& state) { hand_over<gyre::channel<int>>(state, 1); }
BENCHMARK(channel_of_1);
void channel_of_64(benchmark::State& state) { hand_over<gyre::channel<int>>(state, 64); }
BENCHMARK(channel_of_64);
void shared_channel_of_64_on_one_loop(benchmark::State& state) { hand_over<gyre::shared_channel<int>>(state, 64); }
BENCHMARK(shared_channel_of_64_on_one_loop);

void queue_put_and_get(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    gyre::queue<int> queue(1);
    for (auto _ : s) {
      co_await queue.put(1);
      benchmark::DoNotOptimize(co_await queue.get());
    }
  });
}
BENCHMARK(queue_put_and_get);

gyre::generator<int> numbers() {
  for (int i = 0;; ++i) co_yield i;
}
void generator_step(benchmark::State& state) {
  auto sequence = numbers();
  auto at = sequence.begin();
  for (auto _ : state) {
    benchmark::DoNotOptimize(*at);
    ++at;
  }
}
BENCHMARK(generator_step);

gyre::async_generator<int> async_numbers() {
  for (int i = 0;; ++i) co_yield i;
}
void async_generator_step(benchmark::State& state) {
  run_on_loop(state, [](benchmark::State& s) -> gyre::task<> {
    auto sequence = async_numbers();
    for (auto _ : s) benchmark::DoNotOptimize(*co_await sequence.next());
  });
}
BENCHMARK(async_generator_step);

}  // namespace
