// tests/runtime/stop_before_begin_test.cpp: stop requests before, between and after the programs of a process.
#include <gyre/runtime/run.hpp>

#include <gyre/loop/stop_request.hpp>
#include <gyre/runtime/signal_set.hpp>

#include "tests/runtime/stopping_programs.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>

using namespace gyre_test;

TEST(stopping, a_request_before_the_program_begins_is_observed_by_its_main_task) {
  gyre::request_stop();
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              co_await gyre::stop_requested();
              co_return 7;
            }()),
            7);
}

TEST(stopping, a_request_before_the_program_begins_cancels_a_main_task_that_does_not_observe_it) {
  gyre::request_stop();
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              co_await gyre::sleep(1h);
              co_return 0;
            }()),
            143);
}

TEST(stopping, the_first_signal_after_request_stop_is_not_the_second) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::request_stop();
              co_await gyre::stop_requested();
              ::raise(SIGTERM);
              co_await gyre::sleep(1s);
              co_return 7;
            }()),
            7);
}

TEST(stopping, a_request_ends_with_the_program) {
  EXPECT_EQ(run_main_virtually(sleeps_after(SIGTERM)), 143);
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              const auto looked = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
              co_return looked ? 1 : 0;
            }()),
            0);
}

TEST(stopping_threads, a_task_on_another_loop_still_observes_for_the_next_program) {
  std::promise<void> waits;
  std::thread other([&] {
    gyre::run([&]() -> gyre::task<> {
      auto waiting = gyre::spawn([]() -> gyre::task<> { co_await gyre::stop_requested(); });
      co_await gyre::yield();
      waits.set_value();
      co_await waiting;
    });
  });
  waits.get_future().wait();
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> { co_return 1; }()), 1);
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              ::raise(SIGTERM);
              co_await gyre::sleep(1s);
              co_return 7;
            }()),
            7);
  other.join();
}

TEST(stopping, a_run_that_does_not_handle_signals_hears_of_the_request_and_is_not_cancelled) {
  const int value = gyre::run([]() -> gyre::task<int> {
    gyre::request_stop();
    co_await gyre::yield();
    co_await gyre::stop_requested();
    co_return 7;
  });
  EXPECT_EQ(value, 7);
}

TEST(stopping, a_forked_child_begins_without_a_request) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::request_stop();
              co_await gyre::stop_requested();
              const pid_t child = ::fork();
              if (child == 0) {
                const int code = gyre::run([]() -> gyre::task<int> {
                  const auto looked = co_await gyre::as_expected(gyre::timeout(1ms, gyre::stop_requested()));
                  co_return looked ? 1 : 0;
                });
                ::_exit(code);
              }
              int status = -1;
              ::waitpid(child, &status, 0);
              co_return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
            }()),
            0);
}
