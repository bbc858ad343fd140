// tests/loop/stop_request_threads_test.cpp: a stop request affects all loops of the process.
#include <gyre/loop/stop_request.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

TEST(stop_request_threads, a_request_from_a_thread_without_a_loop_reaches_the_loops_of_all_threads) {
  constexpr int loops = 4;
  std::latch waiting(loops);
  std::atomic<int> stopped{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < loops; ++i)
    threads.emplace_back([&] {
      gyre::run([&]() -> gyre::task<> {
        auto waits = gyre::spawn([&]() -> gyre::task<> { co_await gyre::stop_requested(); });
        co_await gyre::yield();
        waiting.count_down();
        co_await waits;
        ++stopped;
      });
    });
  waiting.wait();
  gyre::request_stop();
  for (auto& each : threads) each.join();
  EXPECT_EQ(stopped, loops);
}

// Only a sanitizer reports a loop that is used after its end.
TEST(stop_request_threads, loops_that_end_while_a_request_is_made_are_left_alone) {
  constexpr int rounds = 300;
  for (int i = 0; i < rounds; ++i) {
    std::latch ready(3);
    auto run_a_loop = [&] {
      ready.arrive_and_wait();
      gyre::run([&]() -> gyre::task<> {
        for (int n = 0; n < i % 4; ++n) co_await gyre::yield();
      });
    };
    std::thread first(run_a_loop);
    std::thread second(run_a_loop);
    ready.arrive_and_wait();
    gyre::request_stop();
    first.join();
    second.join();
    gyre::run([]() -> gyre::task<> { co_return; });  // the end of the last loop ends the request
  }
}
