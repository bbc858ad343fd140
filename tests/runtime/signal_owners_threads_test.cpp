// tests/runtime/signal_owners_threads_test.cpp: several owners of one signal, on several threads.
#include <gyre/runtime/signal_set.hpp>

#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <memory>
#include <system_error>
#include <thread>

using gyre::testing::run_test;
using namespace std::chrono_literals;

namespace {

using handler = void (*)(int);

handler current_handler(int number) {
  struct sigaction current{};
  ::sigaction(number, nullptr, &current);
  return current.sa_handler;
}

/// Sets another action for a signal for the duration of a test.
class with_handler {
 public:
  with_handler(int number, handler wanted) : number_(number), before_(std::signal(number, wanted)) {}
  with_handler(const with_handler&) = delete;
  with_handler& operator=(const with_handler&) = delete;
  ~with_handler() { std::signal(number_, before_); }

 private:
  int number_;
  handler before_;
};

constexpr gyre::run_options with_signals{.loop = {}, .handle_signals = true};

/// Returns whether a signal cancels the main task of a run that handles signals.
bool is_cancelled_by(int number) {
  const int code = gyre::run_main([](int raised) -> gyre::task<int> {
    ::raise(raised);
    co_await gyre::sleep(10s);
    co_return 0;
  }(number));
  return code == 128 + number;
}

}  // namespace

TEST(signal_owners_threads, a_signal_on_another_thread_at_the_end_of_a_run_finds_no_loop_that_has_ended) {
  const with_handler ignored(SIGINT, SIG_IGN);
  constexpr int runs = 1500;
  std::atomic<int> round{0};
  std::atomic<int> sent{0};
  std::thread taker([&] {
    for (int seen = 0; seen < runs; ++seen) {
      while (round.load() == seen) std::this_thread::yield();
      for (int pause = (seen * 37) % 3000; pause > 0; --pause) std::atomic_signal_fence(std::memory_order_seq_cst);
      ::pthread_kill(::pthread_self(), SIGINT);
      ++sent;
    }
  });
  for (int i = 0; i < runs; ++i) {
    while (sent.load() < i) std::this_thread::yield();  // a second signal in one run would end the process
    const auto body = [&]() -> gyre::task<> {
      ++round;
      for (int n = 0; n < i % 7; ++n) co_await gyre::yield();
    };
    try {
      gyre::run(body, with_signals);
    } catch (const gyre::cancelled&) {  // the signal came first
    }
  }
  taker.join();
  EXPECT_EQ(current_handler(SIGINT), SIG_IGN);
}

TEST(signal_owners_threads, a_set_that_is_refused_is_not_used_by_a_signal_that_came_meanwhile) {
  const with_handler ignored(SIGUSR1, SIG_IGN);
  std::atomic<bool> stop{false};
  std::thread storm([&] {
    while (!stop) ::pthread_kill(::pthread_self(), SIGUSR1);
  });
  int refused = 0;
  run_test([&]() -> gyre::task<> {
    for (int i = 0; i < 5000; ++i) {
      try {
        const gyre::signal_set set{SIGUSR1, 9999};
      } catch (const std::system_error&) {
        ++refused;
      }
      if (i % 50 == 0) co_await gyre::yield();
    }
  });
  stop = true;
  storm.join();
  EXPECT_EQ(refused, 5000);
  EXPECT_EQ(current_handler(SIGUSR1), SIG_IGN);
}

TEST(signal_owners_threads, a_run_that_began_after_a_set_keeps_the_signal_when_the_set_ends_first) {
  std::latch set_is_there(1);
  std::latch run_is_there(1);
  std::thread other([&] {
    run_test([&]() -> gyre::task<> {
      const gyre::signal_set set{SIGTERM};
      set_is_there.count_down();
      run_is_there.wait();
      co_return;
    });
  });
  set_is_there.wait();
  const int code = gyre::run_main([](std::latch& there, std::thread& set) -> gyre::task<int> {
    there.count_down();
    set.join();
    ::raise(SIGTERM);
    co_await gyre::sleep(10s);
    co_return 0;
  }(run_is_there, other));
  EXPECT_EQ(code, 128 + SIGTERM);
  EXPECT_EQ(current_handler(SIGTERM), SIG_DFL);
  EXPECT_TRUE(is_cancelled_by(SIGTERM)) << "a later run does not get the signal";
}

TEST(signal_owners_threads, a_set_that_outlives_a_run_restores_what_was_there_before_both) {
  const handler interrupt_before = current_handler(SIGINT);  // a shell makes background commands (&) ignore it
  std::unique_ptr<gyre::signal_set> set;
  gyre::run(
      [&]() -> gyre::task<> {
        set = std::make_unique<gyre::signal_set>(std::initializer_list<int>{SIGTERM});
        co_return;
      },
      with_signals);
  EXPECT_NE(current_handler(SIGTERM), SIG_DFL) << "the run took the signal from the set";
  EXPECT_EQ(current_handler(SIGINT), interrupt_before);
  set.reset();
  EXPECT_EQ(current_handler(SIGTERM), SIG_DFL);
}

TEST(signal_owners_threads, a_set_gets_the_signal_also_when_the_run_began_later) {
  gyre::signal_set set{SIGTERM};
  const int code = gyre::run_main([](gyre::signal_set& owner) -> gyre::task<int> {
    ::raise(SIGTERM);
    co_return co_await owner.next();
  }(set));
  EXPECT_EQ(code, SIGTERM);
}

TEST(signal_owners_threads, a_signal_after_the_end_of_a_loop_waits_for_the_next_loop) {
  std::unique_ptr<gyre::signal_set> set;
  const auto make = [&]() -> gyre::task<> {
    set = std::make_unique<gyre::signal_set>(std::initializer_list<int>{SIGUSR1});
    co_return;
  };
  run_test(make);
  ::raise(SIGUSR1);
  const int number = run_test([&]() -> gyre::task<int> { co_return co_await set->next(); });
  EXPECT_EQ(number, SIGUSR1);
}

TEST(signal_owners_threads, two_runs_at_a_time_cannot_handle_signals) {
  const auto body = []() -> gyre::task<> {
    std::thread([] {
      EXPECT_THROW(gyre::run([]() -> gyre::task<> { co_return; }, with_signals), std::logic_error);
    }).join();
    co_return;
  };
  gyre::run(body, with_signals);
  EXPECT_TRUE(is_cancelled_by(SIGINT));
}
