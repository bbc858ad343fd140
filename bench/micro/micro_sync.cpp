// bench/micro/micro_sync.cpp: the cost of awaiting, synchronizing and handing over.
// Aims: uncontended mutex ≤ 15 ns, a channel hand-over between two tasks ≤ 30.
#include "bench/micro/report.hpp"

namespace {

gyre::task<> mutex(long n) {
  gyre::mutex m;
  for (long i = 0; i < n; ++i) {
    co_await m.lock();
    m.unlock();
  }
}

gyre::task<> mutex_scoped(long n) {
  gyre::mutex m;
  for (long i = 0; i < n; ++i) const auto guard = co_await m.scoped_lock();
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

template <class Channel>
gyre::task<> send(Channel& to, long n) {
  for (long i = 0; i < n; ++i) co_await to.send(static_cast<int>(i));
}
template <class Channel>
gyre::task<> receive(Channel& from, long n) {
  for (long i = 0; i < n; ++i) (void)co_await from.receive();
}
template <class Channel>
gyre::task<> hand_over(std::size_t capacity, long n) {
  Channel c(capacity);
  co_await gyre::gather(send(c, n), receive(c, n));
}

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
  co_await bench::report("mutex", mutex);
  co_await bench::report("mutex_scoped", mutex_scoped);
  co_await bench::report("mutex_hand_over", mutex_hand_over);
  co_await bench::report("semaphore", semaphore);
  co_await bench::report("channel_64", hand_over<gyre::channel<int>>, 64U);
  co_await bench::report("channel_1", hand_over<gyre::channel<int>>, 1U);
  co_await bench::report("channel_rendezvous", hand_over<gyre::channel<int>>, 0U);
  co_await bench::report("shared_channel_64", hand_over<gyre::shared_channel<int>>, 64U);
  co_await bench::report("queue", queue);
  co_await bench::report("oneshot", oneshot);
  co_await bench::report("yield", yield);
  co_await bench::report("spawn", spawn);
  co_await bench::report("generator", generator);
  co_await bench::report("async_generator", async_generator);
  co_await bench::report("to_thread", to_thread);
}

}  // namespace

int main() { return gyre::run_main(all()); }
