// tests/loop/fork_test.cpp: operations that are allowed in a forked child.
#include <gyre/io/io_error.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/support/denied_call.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <semaphore>
#include <stdexcept>
#include <thread>

using namespace gyre_test;

namespace {

class forked_child : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!forked_children_may_start_threads) GTEST_SKIP();
  }
};

/// Returns "all" when files, names, sockets and threads work on a new loop of this process.
std::string all_of_it() {
  return gyre::run([]() -> gyre::task<std::string> {
    auto function = [] { return 3; };
    const int three = co_await gyre::to_thread(function);
    auto file = co_await gyre::fs::file::open("/dev/null");
    co_await file.close();
    const auto found = co_await gyre::resolve("localhost", 80);
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("ping");
    std::array<std::byte, 4> got{};
    co_await pair.server.read_exactly(got);
    co_return three == 3 && !found.empty() && text_of(got) == "ping" ? "all" : "not all";
  });
}

/// Forks. The child continues; the parent ends in the same way as the child.
void go_on_in_a_child() {
  const pid_t child = ::fork();
  if (child == 0) return;
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) ::raise(WTERMSIG(status));
  ::_exit(0);
}

}  // namespace

TEST_F(forked_child, uses_the_pools_although_its_parent_had_threads_in_them) {
  EXPECT_EQ(all_of_it(), "all");
  const child_outcome child = in_child_process(all_of_it);
  EXPECT_TRUE(child.ended) << child.signal;
  EXPECT_EQ(child.text, "all");
}

TEST_F(forked_child, ends_its_own_pools_and_not_those_of_its_parent) {
  EXPECT_EQ(all_of_it(), "all");
  const auto all_of_it_twice = [] {
    gyre::end_thread_pools();
    const std::string once = all_of_it();
    gyre::end_thread_pools();
    return once + " and " + all_of_it();
  };
  const child_outcome child = in_child_process(all_of_it_twice);
  EXPECT_TRUE(child.ended) << child.signal;
  EXPECT_EQ(child.text, "all and all");
  gyre::end_thread_pools();
  EXPECT_EQ(all_of_it(), "all");
}

TEST_F(forked_child, ends_its_pools_although_another_thread_of_its_parent_was_ending_them) {
  std::binary_semaphore begun(0);
  std::binary_semaphore gate(0);
  std::thread caller([&] {
    gyre::run([&]() -> gyre::task<> {
      auto function = [&] {
        begun.release();
        gate.acquire();
      };
      co_await gyre::to_thread(function);
    });
  });
  begun.acquire();
  std::thread ender(gyre::end_thread_pools);  // waits for the call
  for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
  const auto ends_pools = [] {
    gyre::end_thread_pools();
    return all_of_it();
  };
  const child_outcome child = in_child_process(ends_pools);
  EXPECT_TRUE(child.ended) << child.signal;
  EXPECT_EQ(child.text, "all");
  gate.release();
  caller.join();
  ender.join();
}

TEST_F(forked_child, does_not_run_jobs_that_wait_in_the_parent) {
  gyre::thread_pool pool(1);
  gyre::run([&]() -> gyre::task<> {
    std::binary_semaphore gate(0);
    std::binary_semaphore begun(0);
    std::atomic<int> ran = 0;
    auto wait_for_gate = [&] {
      begun.release();
      gate.acquire();
    };
    auto count = [&] { ++ran; };
    auto first = gyre::spawn([&]() -> gyre::task<> { co_await gyre::to_thread(pool, wait_for_gate); });
    auto second = gyre::spawn([&]() -> gyre::task<> { co_await gyre::to_thread(pool, count); });
    co_await gyre::yield();
    begun.acquire();
    const child_outcome child = in_child_process([&] {
      auto in_pool = [&]() -> gyre::task<std::string> {
        auto function = [&] { return std::to_string(ran); };
        co_return co_await gyre::to_thread(pool, function);
      };
      return gyre::run(in_pool);
    });
    EXPECT_TRUE(child.ended) << child.signal;
    EXPECT_EQ(child.text, "0");
    gate.release();
    co_await first;
    co_await second;
    EXPECT_EQ(ran, 1);
  });
}

TEST_F(forked_child, may_have_a_loop_of_its_own_when_a_task_forks) {
  gyre::run([]() -> gyre::task<> {
    const child_outcome child = in_child_process(all_of_it);
    EXPECT_TRUE(child.ended) << child.signal;
    EXPECT_EQ(child.text, "all");
    co_return;
  });
  EXPECT_EQ(all_of_it(), "all");
}

TEST_F(forked_child, that_waits_for_a_loop_of_another_thread_of_its_parent_is_told_that_it_does_not_run) {
  std::promise<gyre::event_loop*> begun;
  std::promise<void> end;
  std::thread other([&] {
    gyre::run([&]() -> gyre::task<> {
      begun.set_value(&gyre::event_loop::current());
      auto wait = [&] { end.get_future().wait(); };
      co_await gyre::to_thread(wait);
    });
  });
  gyre::event_loop& loop = *begun.get_future().get();
  const child_outcome child = in_child_process([&]() -> std::string {
    auto nothing = []() -> gyre::task<> { co_return; };
    try {
      gyre::blocking_run(loop, nothing);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "done";
  });
  end.set_value();
  other.join();
  EXPECT_TRUE(child.ended) << child.signal;
  EXPECT_TRUE(child.says("a forked child waits for a loop of its parent")) << child.text;
}

TEST_F(forked_child, uses_the_pool_when_a_thread_of_the_pool_forks) {
  gyre::run([]() -> gyre::task<> {
    auto forks = [] { return in_child_process(all_of_it); };
    const child_outcome child = co_await gyre::to_thread(forks);
    EXPECT_TRUE(child.ended) << child.signal;
    EXPECT_EQ(child.text, "all");
  });
}

TEST_F(forked_child, that_awaits_something_of_its_parents_loop_stops_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto reads_in_the_child = [] {
    gyre::run([]() -> gyre::task<> {
      auto pair = co_await connect_pair();
      go_on_in_a_child();
      std::array<std::byte, 4> got{};
      (void)co_await pair.server.read_some(got);
    });
  };
  const auto sleeps_in_the_child = [] {
    gyre::run([]() -> gyre::task<> {
      go_on_in_a_child();
      co_await gyre::sleep(1ms);
    });
  };
  EXPECT_EXIT(reads_in_the_child(), ::testing::KilledBySignal(SIGABRT),
              "a forked child uses the event loop of its parent");
  EXPECT_EXIT(sleeps_in_the_child(), ::testing::KilledBySignal(SIGABRT), "a forked child uses the event loop");
}

TEST_F(forked_child, destroys_what_belongs_to_its_parents_loop_and_the_parent_does_not_notice) {
  gyre::run([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    auto reading = gyre::spawn([&]() -> gyre::task<std::string> {
      std::array<std::byte, 4> got{};
      co_await pair.server.read_exactly(got);
      co_return std::string(text_of(got));
    });
    co_await gyre::yield();
    const child_outcome child = in_child_process([&] {
      const gyre::tcp_stream gone = std::move(pair.client);
      return std::string("destroyed");
    });
    EXPECT_TRUE(child.ended) << child.signal;
    EXPECT_EQ(child.text, "destroyed");
    const child_outcome child_with_loop = in_child_process([&] {
      gyre::run([&]() -> gyre::task<> {
        const gyre::tcp_stream gone = std::move(pair.client);
        co_return;
      });
      return std::string("destroyed");
    });
    EXPECT_TRUE(child_with_loop.ended) << child_with_loop.signal;
    EXPECT_EQ(child_with_loop.text, "destroyed");
    co_await pair.client.write_all("ping");
    EXPECT_EQ(co_await reading, "ping");
  });
}

// A fresh process each time: pools are made once.
TEST_F(forked_child, can_use_a_pool_that_another_thread_used_for_the_first_time_during_the_fork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int round = 0; round < 50; ++round) {
    const auto forks = [round] {
      const int status = gyre::run(
          [round]() -> gyre::task<int> {
            auto uses = []() -> gyre::task<int> {
              auto function = [] { return 1; };
              co_return co_await gyre::to_thread(function);
            };
            auto there = gyre::spawn_on((*gyre::event_loop::current().group())[1], uses);
            co_await gyre::yield();
            for (std::atomic<int> pause = 0; pause < round * 1500; ++pause) {
            }
            const pid_t child = ::fork();
            if (child == 0) {
              ::alarm(5);
              ::_exit(gyre::run(uses) == 1 ? 0 : 1);
            }
            int ended = 0;
            ::waitpid(child, &ended, 0);
            co_await there;
            co_return ended;
          },
          {.threads = 2});
      ::_exit(status == 0 ? 0 : 1);
    };
    EXPECT_EXIT(forks(), ::testing::ExitedWithCode(0), "");
  }
}
