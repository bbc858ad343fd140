// tests/runtime/stopping_test.cpp: the effect of SIGINT, SIGTERM and request_stop() on a program, and on its exit code.
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
#include <thread>

using namespace gyre_test;

TEST(stopping, a_program_that_does_not_observe_the_request_is_cancelled_at_once) {
  EXPECT_EQ(run_main_virtually(sleeps_after(SIGTERM)), 143);
  EXPECT_EQ(run_main_virtually(sleeps_after(SIGINT)), 130);
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::request_stop();
              const auto begin = gyre::now();
              try {
                co_await gyre::sleep(1h);
              } catch (const gyre::cancelled&) {
                EXPECT_EQ(since(begin), 0ms);
                throw;
              }
              co_return 0;
            }()),
            143);
}

TEST(stopping, a_task_that_finishes_its_work_in_spite_of_the_cancel_gives_its_own_code) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              ::raise(SIGTERM);
              try {
                co_await gyre::sleep(1h);
              } catch (const gyre::cancelled&) {
              }
              co_return 7;
            }()),
            7);
}

TEST(stopping, a_program_that_waits_for_the_request_goes_on_and_gives_its_own_code) {
  for (const int number : {SIGTERM, SIGINT})
    EXPECT_EQ(run_main_virtually([](int raised) -> gyre::task<int> {
                auto raises = gyre::spawn([raised]() -> gyre::task<> {
                  ::raise(raised);
                  co_return;
                });
                co_await gyre::stop_requested();
                co_await gyre::sleep(1s);  // work that takes time: nothing is cancelled
                co_await raises;
                co_return 7;
              }(number)),
              7);
}

TEST(stopping, a_program_that_has_waited_for_the_request_is_not_cancelled_while_it_does_other_work) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              auto looked = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
              EXPECT_FALSE(looked);
              ::raise(SIGTERM);
              co_await gyre::sleep(1s);  // an item of work
              looked = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
              EXPECT_TRUE(looked);
              co_return 0;
            }()),
            0);
}

TEST(stopping, a_task_that_the_main_task_has_started_observes_for_the_program) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::event stop;
              auto watching = gyre::spawn([&]() -> gyre::task<> {
                co_await gyre::stop_requested();
                stop.set();
              });
              ::raise(SIGTERM);  // before `watching` has begun, which then observes the request
              co_await stop.wait();
              co_await watching;
              co_return 0;
            }()),
            0);
}

TEST(stopping, the_second_signal_cancels_and_clean_up_runs) {
  static bool cleaned_up;
  cleaned_up = false;
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              ::raise(SIGTERM);
              co_await gyre::stop_requested();
              ::raise(SIGINT);
              bool cut_off = false;
              try {
                co_await gyre::sleep(1s);
              } catch (const gyre::cancelled&) {
                cut_off = true;
              }
              EXPECT_TRUE(cut_off);
              auto clean_up = []() -> gyre::task<> { co_await gyre::sleep(1s); };
              co_await gyre::shield(clean_up);
              cleaned_up = true;
              co_return 0;  // its value does not matter
            }()),
            130);
  EXPECT_TRUE(cleaned_up);
}

TEST(stopping, a_signal_after_the_cancel_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the thread sanitizer delivers no signals in a forked child
  const auto two_signals_without_an_observer = [] {
    gyre::run_main([]() -> gyre::task<int> {
      ::raise(SIGTERM);
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      ::raise(SIGTERM);
      ::_exit(1);
    }());
  };
  const auto three_signals = [] {
    gyre::run_main([]() -> gyre::task<int> {
      ::raise(SIGTERM);
      co_await gyre::stop_requested();
      ::raise(SIGTERM);
      ::raise(SIGINT);
      ::_exit(1);
    }());
  };
  EXPECT_EXIT(two_signals_without_an_observer(), testing::ExitedWithCode(143), "");
  EXPECT_EXIT(three_signals(), testing::ExitedWithCode(130), "");
}

TEST(stopping, a_program_that_does_not_end_in_time_is_cancelled) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_main_virtually(
                []() -> gyre::task<int> {
                  ::raise(SIGINT);
                  co_await gyre::stop_requested();
                  const auto begin = gyre::now();
                  try {
                    co_await gyre::sleep(1h);
                  } catch (const gyre::cancelled&) {
                    EXPECT_EQ(since(begin), 4s);
                  }
                  co_return 0;
                }(),
                4s),
            130);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("it still runs 4 s later"), std::string::npos);
}

TEST(stopping, takes_the_time_that_a_program_needs_when_there_is_no_limit) {
  EXPECT_EQ(run_main_virtually(
                []() -> gyre::task<int> {
                  gyre::request_stop();
                  co_await gyre::stop_requested();
                  co_await gyre::sleep(10h);
                  co_return 7;
                }(),
                std::chrono::nanoseconds::max()),
            7);
}

TEST(stopping, a_negative_time_limit_is_refused) {
  auto nothing = []() -> gyre::task<> { co_return; };
  EXPECT_THROW(gyre::run(nothing, {.after_drain = -1s}), std::invalid_argument);
  EXPECT_THROW(gyre::run(nothing, {.after_cancel = -1s}), std::invalid_argument);
}

TEST(stopping_death, a_function_on_a_thread_that_does_not_return_cannot_keep_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_soon = [](std::size_t threads) {
    gyre::run_options options{.threads = threads};
    options.after_drain = options.after_cancel = 20ms;
    return options;
  };
  // The signals come once the function runs: a function that has not begun is withdrawn.
  const auto stuck = [&](bool observed, std::initializer_list<int> signals) {
    auto wait_for_ever = [&] {
      for (const int number : signals) ::kill(::getpid(), number);
      for (;;) ::pause();
    };
    auto main = [&]() -> gyre::task<> {
      if (observed) gyre::stop_observers::note_interest();
      co_await gyre::to_thread(wait_for_ever);
    };
    gyre::run_main(main, end_soon(1));
  };
  const auto stuck_on_another_loop = [&] {
    auto wait_for_ever = [] {
      ::kill(::getpid(), SIGTERM);
      for (;;) ::pause();
    };
    auto waits = [&]() -> gyre::task<> { co_await gyre::to_thread(wait_for_ever); };
    auto main = [&]() -> gyre::task<> {
      auto there = [&]() -> gyre::task<> {
        gyre::spawn(waits).detach();
        co_return;
      };
      co_await gyre::on((*gyre::event_loop::current().group())[1], there);
      co_await gyre::sleep(1h);
    };
    gyre::run_main(main, end_soon(2));
  };
  const char* const message = "has not ended 0.02 s later .run_options::after_cancel.: the process ends";
  EXPECT_EXIT(stuck(false, {SIGTERM}), testing::ExitedWithCode(143), message);
  EXPECT_EXIT(stuck(true, {SIGINT}), testing::ExitedWithCode(130), message);
  const auto is_end_by_a_signal = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) >= 128; };
  EXPECT_EXIT(stuck(true, {SIGTERM, SIGINT}), is_end_by_a_signal, message);  // the kernel chooses which comes last
  EXPECT_EXIT(stuck(false, {SIGTERM}), testing::ExitedWithCode(143), "main, spawned at .*stopping_test.cpp");
  EXPECT_EXIT(stuck_on_another_loop(), testing::ExitedWithCode(143), "none; another loop has some");
}

TEST(stopping, an_error_after_the_request_is_reported_and_gives_1) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::request_stop();
              co_await gyre::stop_requested();
              throw std::runtime_error("the disk is full");
            }()),
            1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: the disk is full\n");
}

TEST(stopping_threads, a_wait_for_a_signal_is_no_deadlock_on_virtual_time) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              const std::jthread operator_of_the_program([] {
                std::this_thread::sleep_for(5500ms);  // longer than the wait for other threads
                ::kill(::getpid(), SIGTERM);
              });
              co_await gyre::stop_requested();
              co_return 7;
            }()),
            7);
}

TEST(stopping_death, a_wait_for_a_request_that_no_signal_makes_is_a_deadlock_on_virtual_time) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> { co_await gyre::stop_requested(); }),
               "deadlock: nothing can wake 1 task");
}

TEST(stopping, a_signal_set_takes_a_signal_over_and_the_other_one_still_stops_the_program) {
  EXPECT_EQ(run_main_virtually([]() -> gyre::task<int> {
              gyre::signal_set mine{SIGTERM};
              auto stops = gyre::spawn([]() -> gyre::task<> { co_await gyre::stop_requested(); });
              co_await gyre::yield();
              for (int i = 0; i < 3; ++i) {
                ::raise(SIGTERM);
                EXPECT_EQ(co_await mine.next(), SIGTERM);
              }
              co_await gyre::sleep(1s);
              EXPECT_FALSE(stops.done()) << "the signal of the set has requested a stop";
              ::raise(SIGINT);
              co_await stops;
              co_return 7;
            }()),
            7);
}
