// tests/tasks/via_threads_test.cpp: functions on foreign executors.
#include <gyre/tasks/via.hpp>

#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/seeds.hpp"
#include "tests/support/virtual_run.hpp"
#include "tests/tasks/function_queue.hpp"

#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

const auto runs_at_once = [](const gyre::handed_work& work) { work(); };
const auto drops = [](const gyre::handed_work& /*work*/) {};

}  // namespace

TEST(via_threads, an_executor_may_be_a_function_that_runs_the_work_at_once) {
  gyre::run([]() -> gyre::task<> {
    auto seven = [] { return 7; };
    EXPECT_EQ(co_await gyre::via(runs_at_once, seven), 7);
    auto twice = [](const gyre::handed_work& work) {
      work();
      work();
    };
    int calls = 0;
    auto count = [&] { ++calls; };
    co_await gyre::via(twice, count);
    EXPECT_EQ(calls, 1);
  });
}

TEST(via_threads, work_that_is_cancelled_before_it_has_begun_does_not_run_even_after_the_end_of_its_loop) {
  std::binary_semaphore gate(0);
  function_queue executor(1);
  executor.execute([&] { gate.acquire(); });
  bool ran = false;
  gyre::run([&]() -> gyre::task<> {
    auto function = [&] { ran = true; };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(1ms, gyre::via(executor, function))));
    auto task = gyre::spawn([&]() -> gyre::task<> { co_await gyre::via(executor, function); });
    co_await gyre::yield();
    task.cancel();
    EXPECT_TRUE(co_await cancel_and_wait(task));
  });
  gate.release();
  std::binary_semaphore later(0);
  executor.execute([&] { later.release(); });
  later.acquire();
  EXPECT_FALSE(ran);
}

TEST(via_threads, work_that_the_executor_destroys_is_an_error_of_the_await) {
  std::binary_semaphore gate(0);
  function_queue executor(1);
  gyre::run([&]() -> gyre::task<> {
    auto function = [] {};
    const std::string message =
        "the executor has destroyed the work of via() without running it: has it been shut down?";
    EXPECT_EQ(co_await error_of(gyre::via(drops, function)), message);
    std::binary_semaphore begun(0);
    executor.execute([&] {
      begun.release();
      gate.acquire();
    });
    begun.acquire();
    auto task = gyre::spawn([&]() -> gyre::task<> { co_await gyre::via(executor, function); });
    co_await gyre::yield();
    executor.clear();
    EXPECT_EQ(co_await error_of(std::move(task)), message);
    gate.release();
  });
}

TEST(via_threads, an_executor_that_refuses_the_work_throws_its_own_error) {
  gyre::run([]() -> gyre::task<> {
    auto function = [] { return 1; };
    auto refuses = [](const gyre::handed_work& /*work*/) { throw std::runtime_error("the queue is full"); };
    EXPECT_EQ(co_await error_of(gyre::via(refuses, function)), "the queue is full");
    auto runs_and_throws = [](const gyre::handed_work& work) {
      work();
      throw std::runtime_error("too late");
    };
    EXPECT_EQ(co_await gyre::via(runs_and_throws, function), 1);
    std::vector<gyre::handed_work> kept;
    auto keeps_and_throws = [&](const gyre::handed_work& work) {
      kept.push_back(work);
      throw std::runtime_error("kept by mistake");
    };
    EXPECT_EQ(co_await error_of(gyre::via(keeps_and_throws, function)), "kept by mistake");
    kept.front()();  // has no effect
  });
}

TEST(via_threads, the_end_of_a_loop_waits_for_a_function_that_has_begun) {
  function_queue executor(1);
  std::binary_semaphore begun(0);
  std::atomic<bool> ended = false;
  gyre::run([&]() -> gyre::task<> {
    auto background = [&]() -> gyre::task<> {
      auto function = [&] {
        begun.release();
        std::this_thread::sleep_for(5ms);
        ended = true;
      };
      co_await gyre::via(executor, function);
    };
    gyre::spawn(background).detach();
    co_await gyre::yield();
    begun.acquire();
  });
  EXPECT_TRUE(ended);
}

TEST(via_threads, virtual_time_stands_still_while_an_executor_works) {
  function_queue executor(1);
  run_virtual([&]() -> gyre::task<> {
    auto function = [] { return 3; };
    auto work = gyre::timeout(10min, gyre::via(executor, function));
    EXPECT_EQ(co_await std::move(work), 3);
  });
}

TEST(via_threads, a_cancel_at_any_step_leaves_nothing_behind) {
  function_queue executor(1);
  std::atomic<int> values = 0;
  struct counted {
    explicit counted(std::atomic<int>& in) noexcept : count(&in) { ++*count; }
    counted(const counted& other) noexcept : counted(*other.count) {}
    counted& operator=(const counted&) = delete;
    ~counted() { --*count; }
    std::atomic<int>* count;
  };
  const auto make = [&]() -> gyre::task<> {
    const counted captured(values);
    auto function = [captured] { return captured; };
    for (int i = 0; i < 3; ++i) {
      (void)co_await gyre::via(executor, function);
      (void)co_await gyre::via(runs_at_once, function);
    }
  };
  gyre::testing::cancel_report report;
  EXPECT_NO_THROW(report = gyre::testing::cancel_at_every_await(make, [&](bool) { EXPECT_EQ(values, 0); }));
  EXPECT_GE(report.cancelled, 3U);
}

// Every call gets one outcome, and no function runs after its await has ended.
TEST(via_threads, each_call_has_one_outcome_when_several_loops_call_cancel_and_drop_work) {
  for_each_seed(60, [](unsigned seed) {
    function_queue executor(2);
    std::atomic<bool> all_done = false;
    std::thread cleaner([&] {
      choices choose(seed * 7);
      while (!all_done) {
        std::this_thread::sleep_for(std::chrono::microseconds(choose.below(300)));
        if (choose.one_in(3)) executor.clear();
      }
    });
    std::atomic<int> outcomes = 0;
    std::atomic<int> wrong = 0;
    auto call = [&](unsigned number) -> gyre::task<> {
      choices choose(number);
      bool waits = true;
      const int time = static_cast<int>(choose.below(50));
      auto function = [&waits, &wrong, time] {
        if (!waits) ++wrong;
        if (time > 0) std::this_thread::sleep_for(std::chrono::microseconds(time));
        if (!waits) ++wrong;
        if (time == 7) throw std::runtime_error("seven");
        return time;
      };
      const std::chrono::microseconds limit(choose.below(200));
      try {
        if (choose.one_in(2)) {
          if (co_await gyre::timeout(limit, gyre::via(executor, function)) != time) ++wrong;
        } else {
          if (co_await gyre::via(executor, function) != time) ++wrong;
        }
      } catch (const gyre::cancelled&) {
        waits = false;
        ++outcomes;
        throw;
      } catch (const std::exception&) {  // a time-out, dropped work, or seven
      }
      waits = false;
      ++outcomes;
    };
    auto loop = [&](unsigned number) {
      gyre::run([&]() -> gyre::task<> {
        choices choose(number);
        std::vector<gyre::task_handle<void>> calls;
        for (unsigned i = 0; i < 40; ++i) {
          calls.push_back(gyre::spawn(call(number * 1000 + i)));
          if (choose.one_in(4)) calls[choose.below(calls.size())].cancel();
          if (choose.one_in(3)) co_await gyre::yield();
        }
        for (auto& each : calls) co_await each.wait();
      });
    };
    std::thread other([&] { loop(seed * 2 + 1); });
    loop(seed * 2);
    other.join();
    all_done = true;
    cleaner.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(outcomes, 80);  // a call that was cancelled before it began has none
    EXPECT_GT(outcomes, 0);
  });
}

TEST(via_threads, the_work_may_run_on_the_thread_of_its_own_loop) {
  std::vector<gyre::handed_work> kept;
  gyre::run([&]() -> gyre::task<> {
    auto keeps = [&](const gyre::handed_work& work) { kept.push_back(work); };
    auto function = [] { return 4; };
    auto task = gyre::spawn([&]() -> gyre::task<int> { co_return co_await gyre::via(keeps, function); });
    for (int i = 0; i < 5; ++i) co_await gyre::yield();
    EXPECT_FALSE(task.done());
    kept.front()();  // on the thread of the loop itself
    EXPECT_EQ(co_await task, 4);
  });
}
