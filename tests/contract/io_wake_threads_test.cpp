// tests/contract/io_wake_threads_test.cpp: backend::wake from other threads, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <atomic>
#include <thread>

namespace gyre::contract {
namespace {

class io_wake_threads : public io_contract {};

TEST_P(io_wake_threads, each_wake_after_a_post_is_noticed) {
  constexpr int rounds = 2'000;
  std::atomic<int> posted{0};
  std::atomic<int> seen{0};
  std::thread poster([&] {
    for (int i = 1; i <= rounds; ++i) {
      posted.store(i, std::memory_order_release);
      backend->wake();
      while (seen.load(std::memory_order_acquire) < i) std::this_thread::yield();
    }
  });
  // Hangs until the test's time limit if a wake is lost.
  while (seen.load(std::memory_order_relaxed) < rounds) {
    if (const int latest = posted.load(std::memory_order_acquire); latest != seen.load(std::memory_order_relaxed))
      seen.store(latest, std::memory_order_release);
    else
      backend.turn(io::wait_forever);
  }
  poster.join();
}

TEST_P(io_wake_threads, several_threads_wake_while_io_goes_on) {
  constexpr int wakers = 3;
  constexpr int wakes = 2'000;
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < wakers; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < wakes; ++i) {
        sum.fetch_add(1, std::memory_order_release);
        backend->wake();
      }
    });
  receiver m(backend, io::opcode::receive_many, unix_connection());
  submit(m);
  std::size_t sent = 0;
  while (sum.load(std::memory_order_acquire) < wakers * wakes || m.bytes.size() < sent) {
    if (sent < 500) sent += say(m.peer, "x");
    backend.turn(sent > m.bytes.size() ? io::do_not_wait : now() + milliseconds);
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(m.bytes.size(), sent);
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_wake_threads, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
