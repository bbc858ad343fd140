// bench/primitives/gyre_primitives.cpp: the cost of awaiting, synchronizing and handing over.
#include <gyre/gyre.hpp>

#include "bench/primitives/timing.hpp"

namespace {

/// `body(n)` performs the operation n times.
template <class Body>
gyre::task<> report(const char* name, Body body) {
  bench::stopwatch watch(name);
  do {
    watch.start();
    co_await body(watch.repetitions());
  } while (watch.again());
}

gyre::task<> mutex(long n) {
  gyre::mutex m;
  for (long i = 0; i < n; ++i) {
    co_await m.lock();
    m.unlock();
  }
}

// Two tasks take turns: each hand-over wakes the other.
gyre::task<> take_turns(gyre::mutex& m, long n) {
  for (long i = 0; i < n; ++i) {
    co_await m.lock();
    co_await gyre::yield();
    m.unlock();
  }
}
gyre::task<> mutex_hand_over(long n) {
  gyre::mutex m;
  co_await gyre::gather(take_turns(m, n / 2), take_turns(m, n / 2));
}

gyre::task<> semaphore(long n) {
  gyre::counting_semaphore s(1);
  for (long i = 0; i < n; ++i) {
    co_await s.acquire();
    s.release();
  }
}

gyre::task<> send(gyre::channel<int>& to, long n) {
  for (long i = 0; i < n; ++i) co_await to.send(static_cast<int>(i));
}
gyre::task<> receive(gyre::channel<int>& from, long n) {
  for (long i = 0; i < n; ++i) (void)co_await from.receive();
}
gyre::task<> channel_of(std::size_t capacity, long n) {
  gyre::channel<int> c(capacity);
  co_await gyre::gather(send(c, n), receive(c, n));
}
gyre::task<> channel_64(long n) { co_await channel_of(64, n); }
gyre::task<> channel_1(long n) { co_await channel_of(1, n); }

gyre::task<> queue(long n) {
  gyre::queue<int> q(8);
  for (long i = 0; i < n; ++i) {
    co_await q.put(1);
    (void)co_await q.get();
  }
}

gyre::task<> oneshot(long n) {
  for (long i = 0; i < n; ++i) {
    gyre::oneshot<int> once;
    once.sender.send(1);
    (void)co_await once.receiver.receive();
  }
}

gyre::task<> yield(long n) {
  for (long i = 0; i < n; ++i) co_await gyre::yield();
}

gyre::task<int> nothing() { co_return 1; }
gyre::task<> spawn(long n) {
  for (long i = 0; i < n; ++i) {
    auto handle = gyre::spawn(nothing());
    (void)co_await handle;
  }
}

gyre::generator<long> count(long n) {
  for (long i = 0; i < n; ++i) co_yield i;
}
gyre::task<> generator(long n) {
  long sum = 0;
  for (const long i : count(n)) sum += i;
  if (sum < 0) std::puts("impossible");
  co_return;
}
gyre::async_generator<long> count_later(long n) {
  for (long i = 0; i < n; ++i) co_yield i;
}
gyre::task<> async_generator(long n) {
  auto numbers = count_later(n);
  while (co_await numbers.next()) {
  }
}

gyre::task<> to_thread(long n) {
  const auto function = [] {};
  for (long i = 0; i < n; ++i) co_await gyre::to_thread(function);
}

gyre::task<> all() {
  co_await report("mutex", mutex);
  co_await report("mutex_hand_over", mutex_hand_over);
  co_await report("semaphore", semaphore);
  co_await report("channel_64", channel_64);
  co_await report("channel_1", channel_1);
  co_await report("queue", queue);
  co_await report("oneshot", oneshot);
  co_await report("yield", yield);
  co_await report("spawn", spawn);
  co_await report("generator", generator);
  co_await report("async_generator", async_generator);
  co_await report("to_thread", to_thread);
}

}  // namespace

int main() { return gyre::run_main(all()); }
