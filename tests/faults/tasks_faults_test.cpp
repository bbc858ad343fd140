// tests/faults/tasks_faults_test.cpp: an allocation that fails in a combinator costs that combinator.
#include "tests/faults/injector.hpp"

#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

class task_faults : public faults {};

gyre::task<int> leaf(int value) {
  co_await gyre::sleep(1ms);
  co_return value;
}
gyre::task<> failing(std::string why) {
  co_await gyre::sleep(1ms);
  throw std::runtime_error(why);
}
gyre::task<> endless() { co_await gyre::sleep(10h); }

}  // namespace

TEST_P(task_faults, a_gather_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto all = gyre::gather(leaf(1), leaf(2), leaf(3));
    EXPECT_EQ((co_await std::move(all)).get<2>(), 3);
  });
}

TEST_P(task_faults, a_gather_of_many_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    std::vector<gyre::task<int>> many;
    for (int i = 0; i < 5; ++i) many.push_back(leaf(i));
    auto all = gyre::gather(std::move(many), {.at_most = 2});
    EXPECT_EQ((co_await std::move(all)).size(), 5U);
  });
}

TEST_P(task_faults, a_race_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto race = gyre::race(leaf(1), endless());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    std::vector<gyre::task<int>> many;
    for (int i = 0; i < 4; ++i) many.push_back(leaf(i));
    auto second = gyre::race(std::move(many));
    (void)co_await std::move(second);
  });
}

TEST_P(task_faults, time_outs_and_shields_end_what_they_hold) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    bool expired = false;
    try {
      co_await gyre::timeout(2ms, endless());
    } catch (const gyre::timed_out&) {
      expired = true;
    }
    EXPECT_TRUE(expired);
    co_await gyre::timeout(1h, leaf(1));
    auto work = []() -> gyre::task<> { co_await gyre::sleep(1ms); };
    co_await gyre::shield(work);
  });
}

TEST_P(task_faults, a_task_group_stops_all_of_its_tasks) {
  survives([](fault_injection& f) -> gyre::task<> {
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
    f.arm();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(failing("one failure, told at some length")).detach();
      group.spawn(failing("another failure, told at some length")).detach();
      group.spawn(endless()).detach();
      co_return;
    };
    bool failed = false;
    try {
      co_await gyre::task_group::scope(body);
    } catch (const std::exception&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
  });
}

TEST_P(task_faults, background_tasks_and_shared_tasks_end) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    auto handle = gyre::spawn(leaf(3), {.name = "a name that is longer than what fits into the object itself"});
    gyre::shared_task<int> shared(leaf(5));
    EXPECT_EQ(co_await shared, 5);
    EXPECT_EQ(co_await std::move(handle), 3);
    gyre::spawn_then(leaf(3), [text = std::string(100, 'x')](auto) {});
    co_await gyre::sleep(3ms);
  });
}

TEST_P(task_faults, a_scope_for_background_tasks_ends_them) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::async_scope scope;
    std::exception_ptr failure;
    try {
      f.arm();
      scope.spawn(leaf(1));
      scope.spawn(endless(), {.name = "a name that is longer than what fits into the object itself"});
      co_await gyre::sleep(2ms);
    } catch (...) {
      failure = std::current_exception();
    }
    scope.cancel();
    co_await scope.join();
    if (failure) std::rethrow_exception(failure);
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
