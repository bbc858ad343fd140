// tests/faults/tasks_faults_test.cpp: an allocation that fails in a combinator costs that combinator.
#include "tests/faults/injector.hpp"

#include "tests/support/cancels.hpp"
#include "tests/support/error_of.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

class task_faults : public faults {};

int leaves = 0;  // that have begun and not ended

struct living_leaf {
  living_leaf() { ++leaves; }
  living_leaf& operator=(living_leaf&&) = delete;
  ~living_leaf() { --leaves; }
};

gyre::task<int> leaf(int value) {
  const living_leaf here;
  co_await gyre::sleep(1ms);
  co_return value;
}
gyre::task<> endless_leaf() {
  const living_leaf here;
  co_await gyre::sleep(10h);
}
gyre::task<> failing(std::string why) {
  co_await gyre::sleep(1ms);
  throw std::runtime_error(why);
}

/// A local variable of a scenario. When the scenario ends, by a failure or not, each leaf must have ended.
struct no_leaf_is_left {
  no_leaf_is_left() = default;
  no_leaf_is_left& operator=(no_leaf_is_left&&) = delete;
  ~no_leaf_is_left() { EXPECT_EQ(leaves, 0); }
};

}  // namespace

TEST_P(task_faults, a_gather_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    auto all = gyre::gather(leaf(1), leaf(2), leaf(3));
    EXPECT_EQ((co_await std::move(all)).get<2>(), 3);
  });
}

TEST_P(task_faults, a_gather_of_a_range_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    for (const std::size_t limit : {2U, 5U}) {
      std::vector<gyre::task<int>> many;
      for (int i = 0; i < 5; ++i) many.push_back(leaf(i));
      auto all = gyre::gather(std::move(many), {.max_concurrent = limit});
      EXPECT_EQ((co_await std::move(all)).size(), 5U);
    }
  });
}

TEST_P(task_faults, a_race_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    auto race = gyre::race(leaf(1), endless_leaf());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    std::vector<gyre::task<int>> many;
    for (int i = 0; i < 4; ++i) many.push_back(leaf(i));
    auto second = gyre::race(std::move(many));
    (void)co_await std::move(second);
  });
}

TEST_P(task_faults, time_outs_and_shields_end_what_they_hold) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(2ms, endless_leaf())));
    EXPECT_EQ(co_await gyre::timeout(1h, leaf(1)), 1);
    auto work = []() -> gyre::task<> { co_await gyre::sleep(1ms); };
    co_await gyre::shield(work);
  });
}

TEST_P(task_faults, a_task_group_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    auto inner = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(leaf(1), {.name = "a name that is longer than what fits into the object itself"}).detach();
      group.spawn(leaf(2), {.eager = true}).detach();
      co_return;
    };
    auto outer = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(gyre::task_group::scope(inner)).detach();
      auto handle = group.spawn(leaf(4));
      EXPECT_EQ(co_await std::move(handle), 4);
    };
    co_await gyre::task_group::scope(outer);
  });
}

TEST_P(task_faults, failures_of_a_group_arrive) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    f.arm();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(failing("one failure, told at some length")).detach();
      group.spawn(failing("another failure, told at some length")).detach();
      group.spawn(endless_leaf()).detach();
      co_return;
    };
    EXPECT_TRUE(co_await throws<std::exception>(gyre::task_group::scope(body)));
  });
}

TEST_P(task_faults, background_tasks_and_shared_tasks_end) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto handle = gyre::spawn(leaf(3), {.name = "a name that is longer than what fits into the object itself"});
    gyre::shared_task<int> shared(leaf(5));
    EXPECT_EQ(co_await shared, 5);
    EXPECT_EQ(co_await std::move(handle), 3);
  });
}

TEST_P(task_faults, a_shared_task_that_could_not_start_is_started_by_the_next_await) {
  survives([](fault_injection& f) -> gyre::task<> {
    const gyre::shared_task<int> shared(leaf(7));
    const auto get = [&]() -> gyre::task<> { EXPECT_EQ(co_await shared, 7); };
    const auto get_again = [&](bool) -> gyre::task<> { co_await get(); };
    co_await fail_and_check(f, get, get_again);
  });
}

TEST_P(task_faults, a_callback_of_spawn_then_is_called_once_or_not_at_all) {
  survives([](fault_injection& f) -> gyre::task<> {
    int called = 0;
    const auto start = [&]() -> gyre::task<> {
      gyre::spawn_then(leaf(3), [&, text = std::string(100, 'x')](auto outcome) { called += outcome ? 1 : 100; });
      co_return;
    };
    const auto check = [&](bool failed) -> gyre::task<> {
      co_await gyre::sleep(3ms);
      EXPECT_EQ(called, failed ? 0 : 1);
    };
    co_await fail_and_check(f, start, check);
  });
}

TEST_P(task_faults, a_wait_lets_the_tasks_go_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    std::vector<gyre::task_handle<int>> handles;
    for (int i = 0; i < 3; ++i) handles.push_back(gyre::spawn(leaf(i)));
    const auto wait = [&]() -> gyre::task<> { EXPECT_EQ((co_await gyre::wait(handles)).done.size(), 3U); };
    const auto check = [&](bool) -> gyre::task<> {
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(co_await handles[i], static_cast<int>(i));
    };
    co_await fail_and_check(f, wait, check);
  });
}

TEST_P(task_faults, a_function_is_posted_or_destroyed) {
  survives([](fault_injection& f) -> gyre::task<> {
    const auto owned = std::make_shared<int>(0);
    const auto post = [&]() -> gyre::task<> {
      gyre::event_loop::current().post([owned] { ++*owned; });
      co_return;
    };
    const auto check = [&](bool failed) -> gyre::task<> {
      EXPECT_EQ(owned.use_count(), failed ? 1 : 2);
      co_await gyre::sleep(1ms);
      EXPECT_EQ(*owned, failed ? 0 : 1);
    };
    co_await fail_and_check(f, post, check);
  });
}

TEST_P(task_faults, a_scope_for_background_tasks_ends_them) {
  survives([](fault_injection& f) -> gyre::task<> {
    const no_leaf_is_left check;
    gyre::async_scope scope;
    const auto spawn = [&]() -> gyre::task<> {
      scope.spawn(leaf(1));
      scope.spawn(endless_leaf(), {.name = "a name that is longer than what fits into the object itself"});
      co_await gyre::sleep(2ms);
    };
    const auto end = [&](bool) -> gyre::task<> {
      scope.cancel();
      co_await scope.join();
    };
    co_await fail_and_check(f, spawn, end);
  });
}

TEST_P(task_faults, a_function_on_a_thread_gives_its_result) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    const auto gives_text = [text = std::string(100, 'x')] { return text; };
    auto call = gyre::to_thread(gives_text);
    EXPECT_EQ((co_await std::move(call)).size(), 100U);
  });
}

TEST_P(task_faults, a_function_on_a_foreign_executor_gives_its_result) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto executor = [](const gyre::handed_work& work) { std::thread(work).join(); };
    const auto gives_text = [text = std::string(100, 'x')] { return text; };
    f.arm();
    auto call = gyre::via(executor, gives_text);
    EXPECT_EQ((co_await std::move(call)).size(), 100U);
  });
}

INSTANTIATE_TEST_SUITE_P(one, task_faults, testing::Values(fault_kind::allocation, fault_kind::shortage), kind_name);
