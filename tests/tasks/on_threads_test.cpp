// tests/tasks/on_threads_test.cpp: functions and tasks on another loop of the runtime.
#include <gyre/tasks/on.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/co_assert.hpp"
#include "tests/tasks/other_loop.hpp"
#include "tests/tasks/remote_coroutines.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

gyre::task<> fail_there() {
  co_await gyre::yield();
  throw std::runtime_error("failed there");
}

GYRE_CORO_WRAPPER gyre::task<> make_no_task() { throw std::logic_error("no task"); }

/// Counts the objects of its kind, and remembers the thread on which the last one was destroyed.
struct tracked {
  explicit tracked(std::thread::id& destroyed_on) noexcept : where(&destroyed_on) {}
  tracked(tracked&& other) noexcept : where(std::exchange(other.where, nullptr)) {}
  tracked& operator=(tracked&&) = delete;
  ~tracked() {
    if (where != nullptr) *where = std::this_thread::get_id();
  }
  std::thread::id* where;
};

/// The sum of the counts of all eventfds of this process: how often loops were woken that have not noticed it yet.
unsigned long rings_of_doorbells() {
  unsigned long sum = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(file.path());
    for (std::string line; std::getline(info, line);)
      if (line.starts_with("eventfd-count:")) sum += std::stoul(line.substr(line.find(':') + 1), nullptr, 16);
  }
  return sum;
}

gyre::task<> hold(tracked /*argument*/) { co_await gyre::yield(); }

}  // namespace

TEST(on_threads, a_plain_function_runs_on_the_thread_of_the_other_loop) {
  run_two_loops([]() -> gyre::task<> {
    const auto there = co_await gyre::on(other(), [] { return std::this_thread::get_id(); });
    EXPECT_NE(there, std::this_thread::get_id());
    EXPECT_EQ(co_await gyre::on(other(), [] { return gyre::event_loop::current().index(); }), 1U);
  });
}

TEST(on_threads, a_task_runs_on_the_other_loop_and_the_caller_continues_on_its_own_thread_with_the_value) {
  run_two_loops([]() -> gyre::task<> {
    const auto here = std::this_thread::get_id();
    EXPECT_EQ(co_await gyre::on(other(), seven), "word 7");
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
}

TEST(on_threads, a_value_that_can_only_be_moved_is_moved) {
  run_two_loops([]() -> gyre::task<> {
    const auto made = co_await gyre::on(other(), [] { return std::make_unique<int>(5); });
    EXPECT_EQ(*made, 5);
  });
}

TEST(on_threads, an_exception_of_a_plain_function_a_task_or_a_function_that_makes_no_task_reaches_the_caller) {
  run_two_loops([]() -> gyre::task<> {
    EXPECT_THROW(co_await gyre::on(other(), [] { throw std::runtime_error("plain"); }), std::runtime_error);
    EXPECT_THROW(co_await gyre::on(other(), fail_there), std::runtime_error);
    EXPECT_THROW(co_await gyre::on(other(), make_no_task), std::logic_error);
  });
}

TEST(on_threads, a_plain_function_for_the_own_loop_runs_at_once) {
  gyre::run([]() -> gyre::task<> {
    bool others_ran = false;
    auto neighbour = gyre::spawn([&]() -> gyre::task<> {
      others_ran = true;
      co_return;
    });
    EXPECT_EQ(co_await gyre::on(gyre::event_loop::current(), [] { return 3; }), 3);
    EXPECT_FALSE(others_ran);
    co_await neighbour;
  });
}

TEST(on_threads, a_task_for_the_own_loop_runs_there) {
  gyre::run([]() -> gyre::task<> { EXPECT_EQ(co_await gyre::on(gyre::event_loop::current(), seven), "word 7"); });
}

TEST(on_threads, the_captures_live_until_the_await_has_ended) {
  run_two_loops([]() -> gyre::task<> {
    auto text = std::make_shared<std::string>("kept");
    const std::weak_ptr<std::string> watched = text;
    auto use = [text = std::move(text)]() -> gyre::task<std::string> {
      co_await gyre::yield();
      co_return *text;
    };
    EXPECT_EQ(co_await gyre::on(other(), use), "kept");
    EXPECT_FALSE(watched.expired());
  });
}

TEST(on_threads, the_arguments_of_a_task_are_destroyed_on_its_loop_before_the_caller_continues) {
  run_two_loops([]() -> gyre::task<> {
    const auto there = co_await gyre::on(other(), [] { return std::this_thread::get_id(); });
    std::thread::id destroyed_on;
    auto call = [&]() -> gyre::task<> { co_await hold(tracked(destroyed_on)); };
    co_await gyre::on(other(), call);
    EXPECT_EQ(destroyed_on, there);
  });
}

TEST(on_threads, a_task_sees_the_task_local_values_of_the_caller) {
  static const gyre::task_local<std::string> user;
  run_two_loops([]() -> gyre::task<> {
    const auto bound = user.bind("ann");
    auto look = []() -> gyre::task<std::string> {
      co_await gyre::yield();
      co_return *user.get();
    };
    EXPECT_EQ(co_await gyre::on(other(), look), "ann");
    EXPECT_EQ(co_await gyre::on(other(), [] { return *user.get(); }), "ann");
  });
}

TEST(on_threads, calls_of_one_task_to_one_loop_run_in_order) {
  run_two_loops([]() -> gyre::task<> {
    std::vector<int> seen;  // used only there
    co_await gyre::task_group::scope([&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 100; ++i)
        group.spawn([&seen, i]() -> gyre::task<> { co_await gyre::on(other(), [&seen, i] { seen.push_back(i); }); });
      co_return;
    });
    for (int i = 0; i < 100; ++i) CO_ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
  });
}

TEST(on_threads, a_started_task_runs_beside_the_caller_and_gives_its_value_later) {
  run_two_loops([]() -> gyre::task<> {
    auto made = gyre::spawn_on(other(), seven);
    EXPECT_EQ(co_await made, "word 7");
    auto number = gyre::spawn_on(other(), [] { return 9; });
    EXPECT_EQ(co_await number, 9);
  });
}

TEST(on_threads, a_thousand_calls_give_their_own_values) {
  run_two_loops([]() -> gyre::task<> {
    gyre::event_loop& there = other();
    for (int i = 0; i < 1000; ++i) CO_ASSERT_EQ(co_await gyre::on(there, [i] { return i; }), i);
  });
}

TEST(on_threads, a_loop_that_is_busy_is_not_woken_by_messages) {
  run_two_loops([]() -> gyre::task<> {
    gyre::event_loop& there = other();
    std::binary_semaphore busy{0};
    std::binary_semaphore released{0};
    int arrived = 0;  // used only there
    there.post([&] {
      busy.release();
      released.acquire();
    });
    busy.acquire();
    const unsigned long before = rings_of_doorbells();
    for (int i = 0; i < 1000; ++i) there.post([&] { ++arrived; });
    EXPECT_EQ(rings_of_doorbells(), before);
    there.backend().wake();
    EXPECT_EQ(rings_of_doorbells(), before + 1);  // a wake would have been noticed
    released.release();
    EXPECT_EQ(co_await gyre::on(there, [&] { return arrived; }), 1000);
  });
}

TEST(on_threads, an_exception_and_the_task_local_values_that_a_call_has_seen_end_on_the_thread_of_the_caller) {
  static std::atomic<int> ended_elsewhere;
  ended_elsewhere = 0;
  struct at_home {
    explicit at_home(std::thread::id caller) noexcept : home(caller) {}
    at_home(const at_home&) = default;
    at_home& operator=(const at_home&) = delete;
    ~at_home() { ended_elsewhere += std::this_thread::get_id() == home ? 0 : 1; }
    std::thread::id home;
  };
  static const gyre::task_local<at_home> bound;
  run_two_loops([]() -> gyre::task<> {
    const std::thread::id home = std::this_thread::get_id();
    auto fail = [home]() -> gyre::task<> {
      co_await gyre::yield();
      throw at_home(home);
    };
    for (int i = 0; i < 2000; ++i) {
      const auto value = bound.bind(at_home(home));
      EXPECT_THROW(co_await gyre::on(other(), fail), at_home);
    }
  });
  EXPECT_EQ(ended_elsewhere, 0);
}
