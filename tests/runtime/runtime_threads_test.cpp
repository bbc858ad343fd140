// tests/runtime/runtime_threads_test.cpp: several loops that start and end together.
#include <gyre/runtime/runtime.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/sanitized.hpp"

using namespace std::chrono_literals;

namespace {

gyre::task<std::size_t> index_here() { co_return gyre::event_loop::current().index(); }

std::string name_of_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return name;
}

/// Sleeps until it is cancelled, and counts its end.
gyre::task<> sleep_and_count_the_end(std::atomic<int>& ended) {
  const gyre::scope_exit end([&] { ++ended; });
  co_await gyre::sleep(1h);
}

/// Awaits `clean_up()` in a task that the end of the main task, on the first of two loops, has cancelled.
void clean_up_after_the_main_task(gyre_test::body_ref<> clean_up) {
  auto work = [&]() -> gyre::task<> {
    bool ends = false;
    try {
      co_await gyre::sleep(1h);
    } catch (const gyre::cancelled&) {  // the clean-up follows, outside of the handler
      ends = true;
    }
    if (ends) co_await gyre::shield(clean_up());
  };
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::spawn(work).detach();
        co_await gyre::yield();
      },
      {.threads = 2});
}

int processors_of_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return ::sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

}  // namespace

TEST(runtime_threads, a_program_that_owns_its_main_calls_tasks_on_the_loops) {
  const gyre::runtime cores({.threads = 3});
  EXPECT_EQ(cores.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(gyre::blocking_run(cores.loop(i), index_here()), i);
}

TEST(runtime_threads, each_loop_has_a_thread_with_its_index_in_the_name) {
  const gyre::runtime cores({.threads = 2});
  auto name = []() -> gyre::task<std::string> { co_return name_of_thread(); };
  EXPECT_EQ(gyre::blocking_run(cores.loop(0), name), "gyre-0");
  EXPECT_EQ(gyre::blocking_run(cores.loop(1), name), "gyre-1");
}

TEST(runtime_threads, the_thread_of_the_main_task_keeps_its_name) {
  const std::string before = name_of_thread();
  gyre::run(
      [&]() -> gyre::task<> {
        EXPECT_EQ(name_of_thread(), before);
        EXPECT_EQ(co_await gyre::on((*gyre::event_loop::current().group())[1], [] { return name_of_thread(); }),
                  "gyre-1");
      },
      {.threads = 2});
}

TEST(runtime_threads, a_runtime_needs_at_least_one_loop) {
  EXPECT_THROW(gyre::runtime({.threads = 0}), std::invalid_argument);
  EXPECT_THROW(gyre::runtime({.threads = 100'000}), std::invalid_argument);
  EXPECT_THROW(gyre::run([]() -> gyre::task<> { co_return; }, {.threads = 0}), std::invalid_argument);
}

TEST(runtime_threads, a_loop_that_cannot_be_made_fails_the_start_and_leaves_no_thread) {
  gyre::loop_options wrong;
  wrong.ready_per_turn = 0;
  EXPECT_THROW(gyre::runtime({.threads = 3, .loop = wrong}), std::invalid_argument);
  EXPECT_EQ(gyre::run([]() -> gyre::task<int> { co_return 1; }), 1);  // this thread has no loop left
}

TEST(runtime_threads, stop_cancels_the_tasks_of_all_loops_and_waits_for_their_clean_up) {
  gyre::runtime cores({.threads = 3});
  std::atomic<int> began = 0;
  std::atomic<int> ended = 0;
  auto work = [&]() -> gyre::task<> {
    ++began;
    co_await sleep_and_count_the_end(ended);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    (void)gyre::run_coroutine_threadsafe(cores.loop(i), work);
    (void)gyre::blocking_run(cores.loop(i), index_here());
  }
  EXPECT_EQ(began, 3);
  cores.stop();
  EXPECT_EQ(ended, 3);
  cores.stop();
}

TEST(runtime_threads, a_task_that_cleans_up_can_use_a_loop_whose_tasks_have_ended) {
  int asked = 0;
  clean_up_after_the_main_task([&]() -> gyre::task<> {
    gyre::event_loop& there = (*gyre::event_loop::current().group())[1];
    for (int i = 0; i < 100; ++i) asked += co_await gyre::on(there, [] { return 1; });
  });
  EXPECT_EQ(asked, 100);
}

TEST(runtime_threads, a_task_that_cleans_up_can_run_tasks_on_every_loop) {
  std::vector<std::size_t> seen;
  clean_up_after_the_main_task([&]() -> gyre::task<> {
    for (std::size_t i = 0; i < 2; ++i)
      seen.push_back(co_await gyre::on((*gyre::event_loop::current().group())[i], index_here));
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));
}

TEST(runtime_threads, a_shielded_call_to_another_loop_outlives_the_main_task) {
  bool returned = false;
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::event_loop& home = gyre::event_loop::current();
        gyre::event_loop& there = (*home.group())[1];
        gyre::event running;
        auto flush = [&]() -> gyre::task<> {
          home.post([&] { running.set(); });
          for (int i = 0; i < 100; ++i) co_await gyre::yield();
          co_await gyre::sleep(1ms);
        };
        auto shielded = [&returned, &there, flush]() -> gyre::task<> {
          co_await gyre::shield(gyre::on(there, flush));
          returned = true;
        };
        gyre::spawn(shielded).detach();
        co_await running.wait();
      },
      {.threads = 2});
  EXPECT_TRUE(returned);
}

TEST(runtime_threads, the_end_of_the_main_task_makes_no_call_to_another_loop_fail) {
  static std::atomic<int> failures;
  failures = 0;
  for (int round = 0; round < 20; ++round) {
    gyre::run(
        []() -> gyre::task<> {
          auto call_for_ever = []() -> gyre::task<> {
            auto sleep_there = []() -> gyre::task<> { co_await gyre::sleep(1h); };
            const std::size_t next = gyre::event_loop::current().index() + 1;
            co_await gyre::on((*gyre::event_loop::current().group())[next % 3], sleep_there);
          };
          auto begin = [&] {
            gyre::event_loop::current().set_exception_handler(
                [](const gyre::background_failure&, void*) noexcept { ++failures; }, nullptr);
            for (int i = 0; i < 10; ++i) gyre::spawn(call_for_ever).detach();
          };
          co_await gyre::for_each_loop(begin);
          co_await gyre::for_each_loop(index_here);
        },
        {.threads = 3});
  }
  EXPECT_EQ(failures, 0);
}

TEST(runtime_threads, messages_that_are_on_their_way_at_the_end_arrive) {
  std::atomic<int> arrived = 0;
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::event_loop& first = gyre::event_loop::current();
        gyre::event_loop& second = (*first.group())[1];
        // Each message sends another one, back and forth.
        struct ball {
          gyre::event_loop& here;
          gyre::event_loop& there;
          std::atomic<int>& arrived;
          int left;
          void operator()() const {
            ++arrived;
            if (left > 0) there.post(ball{there, here, arrived, left - 1});
          }
        };
        second.post(ball{second, first, arrived, 499});
        co_return;
      },
      {.threads = 2});
  EXPECT_EQ(arrived, 500);
}

TEST(runtime_threads, the_exception_of_the_main_task_ends_all_loops) {
  std::atomic<bool> begun = false;
  std::atomic<int> ended = 0;
  auto main_task = [&]() -> gyre::task<> {
    gyre::event_loop& there = (*gyre::event_loop::current().group())[1];
    auto work = [&]() -> gyre::task<> {
      begun = true;
      co_await sleep_and_count_the_end(ended);
    };
    gyre::spawn_on(there, work).detach();
    while (!begun) co_await gyre::yield();
    throw std::runtime_error("main failed");
  };
  EXPECT_THROW(gyre::run(main_task, {.threads = 2}), std::runtime_error);
  EXPECT_EQ(ended, 1);
}

TEST(runtime_threads, every_loop_has_its_own_value_which_ends_on_its_thread) {
  static std::atomic<int> made;
  static std::atomic<int> destroyed_at_home;
  made = destroyed_at_home = 0;
  struct value {
    value() : home(std::this_thread::get_id()) { ++made; }
    value(const value&) = delete;
    value& operator=(const value&) = delete;
    ~value() { destroyed_at_home += std::this_thread::get_id() == home ? 1 : 0; }
    std::thread::id home;
    int uses = 0;
  };
  const gyre::loop_local<value> values;
  gyre::run(
      [&]() -> gyre::task<> {
        co_await gyre::for_each_loop([&] { ++values->uses; });
        co_await gyre::for_each_loop([&] { ++values->uses; });
        const auto uses = co_await gyre::for_each_loop([&] { return values->uses; });
        EXPECT_EQ(uses, (std::vector<int>{2, 2, 2}));
      },
      {.threads = 3});
  EXPECT_EQ(made, 3);
  EXPECT_EQ(destroyed_at_home, 3);
}

TEST(runtime_threads, a_value_of_a_loop_may_own_a_stream_that_receives) {
  struct peer {
    std::optional<gyre::tcp_stream> stream;
  };
  const gyre::loop_local<peer> peers;
  gyre::run([&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto accepting = gyre::spawn([&]() -> gyre::task<> {
      auto accepted = co_await listener.accept();
      co_await accepted.write_all("x");
      (void)co_await accepted.receive();
    });
    peers->stream = co_await gyre::tcp_stream::connect(listener.local_address());
    EXPECT_EQ((co_await peers->stream->receive()).bytes().size(), 1U);  // it keeps receiving
    accepting.cancel();
    co_await accepting.wait();
  });
}

TEST(runtime_threads, a_value_of_a_loop_is_usable_while_tasks_clean_up) {
  struct log {
    ~log() { lines = -1; }
    int lines = 0;
  };
  const gyre::loop_local<log> logs;
  int seen = 0;
  gyre::run([&]() -> gyre::task<> {
    (void)logs->lines;
    auto work = [&]() -> gyre::task<> {
      const gyre::scope_exit end([&] { seen = ++logs->lines; });
      co_await gyre::sleep(1h);
    };
    gyre::spawn(work).detach();
    co_await gyre::yield();
  });
  EXPECT_EQ(seen, 1);
}

TEST(runtime_threads, bound_threads_have_one_processor_and_calls_on_other_threads_have_all) {
  const int before = processors_of_thread();
  gyre::run(
      [&]() -> gyre::task<> {
        const auto each = co_await gyre::for_each_loop([] { return processors_of_thread(); });
        EXPECT_EQ(each, (std::vector<int>{1, 1}));
        gyre::thread_pool own(1);
        EXPECT_EQ(co_await gyre::to_thread(own, [] { return processors_of_thread(); }), before);
      },
      {.threads = 2, .pin = true});
  EXPECT_EQ(processors_of_thread(), before);
}

TEST(runtime_threads, binding_the_threads_again_and_again_keeps_no_memory) {
  const auto start_and_stop = [] { const gyre::runtime cores({.threads = 1, .pin = true}); };
  for (int i = 0; i < 10; ++i) start_and_stop();
  const std::size_t before = ::mallinfo2().uordblks;  // 0 under a sanitizer, which finds the leak itself
  for (int i = 0; i < 100; ++i) start_and_stop();
  EXPECT_LT(::mallinfo2().uordblks, before + 50'000);
}

TEST(runtime_threads, the_second_stop_signal_ends_tasks_on_every_loop) {
  std::atomic<int> ended = 0;
  gyre::run_main(
      [&]() -> gyre::task<> {
        auto begin = [&] {
          gyre::spawn(sleep_and_count_the_end(ended)).detach();
        };  // only a cancel of its loop ends it
        co_await gyre::for_each_loop(begin);
        co_await gyre::for_each_loop(index_here);
        auto signal = [] { ::kill(::getpid(), SIGTERM); };
        gyre::spawn([&]() -> gyre::task<> {
          co_await gyre::stop_requested();
          signal();
        }).detach();
        signal();
        while (ended < 2) co_await gyre::shield(gyre::yield());
      },
      {.threads = 2});
  EXPECT_EQ(ended, 2);
}

TEST(runtime_threads, a_forked_child_can_end_without_the_loops_of_its_parent) {
  if (gyre_test::threads_end_at_fork) GTEST_SKIP() << "the thread sanitizer allows no new threads in the child";
  const gyre::runtime cores({.threads = 2});
  const pid_t child = ::fork();
  if (child == 0) {
    const int answer = gyre::run([]() -> gyre::task<int> { co_return 7; }, {.threads = 2});
    ::_exit(answer);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(runtime_threads_death_test, stopping_a_runtime_on_its_own_thread_stops_the_program_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        gyre::runtime cores({.threads = 1});
        gyre::blocking_run(cores.loop(0), [&]() -> gyre::task<> {
          cores.stop();
          co_return;
        });
      },
      "would wait for itself");
}

TEST(runtime_threads_death_test, stopping_a_runtime_or_its_first_loop_in_a_task_of_that_loop_stops_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends_in_a_task = [](bool by_runtime) {
    gyre::event_loop first;
    gyre::runtime cores(first, {.threads = 2});
    auto end = [&]() -> gyre::task<> {
      co_await gyre::yield();
      by_runtime ? cores.stop() : first.shutdown();
    };
    const auto ended = gyre::spawn(end);
    while (!ended.done()) first.turn(true);
  };
  EXPECT_DEATH(ends_in_a_task(true), "would wait for itself: end the loop where it is driven");
  EXPECT_DEATH(ends_in_a_task(false), "would wait for itself: end the loop where it is driven");
}

TEST(runtime_threads_death_test, a_loop_that_does_not_exist_stops_the_program_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  gyre::runtime cores({.threads = 2});
  EXPECT_DEATH((void)cores.loop(2), "has 2 loops");
  cores.stop();
  EXPECT_DEATH((void)cores.loop(0), "after runtime::stop: its loops have ended");
}
