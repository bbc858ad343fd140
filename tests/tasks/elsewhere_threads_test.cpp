// tests/tasks/elsewhere_threads_test.cpp: plain functions on threads, which is the same for to_thread, a pool of the
// program's own, and an executor of somebody else.
#include <gyre/tasks/thread_pool.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/tasks/via.hpp>

#include "tests/support/virtual_run.hpp"
#include "tests/tasks/function_queue.hpp"

#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace gyre_test;

namespace {

enum class place : unsigned char { to_thread, own_pool, executor };

std::string place_name(const testing::TestParamInfo<place>& info) {
  constexpr const char* names[] = {"to_thread", "own_pool", "executor"};
  return names[static_cast<std::size_t>(info.param)];
}

class elsewhere_threads : public testing::TestWithParam<place> {
 protected:
  template <class F>
  gyre::task<std::invoke_result_t<F&>> call(F& function) {
    if (GetParam() == place::to_thread) co_return co_await gyre::to_thread(function);
    if (GetParam() == place::own_pool) co_return co_await gyre::to_thread(pool_, function);
    co_return co_await gyre::via(executor_, function);
  }

  /// The number of functions that run at the same time.
  [[nodiscard]] std::ptrdiff_t threads() const {
    if (GetParam() != place::to_thread) return 1;
    return static_cast<std::ptrdiff_t>(gyre::io::blocking_pool::for_calls().max_threads());
  }

 private:
  gyre::thread_pool pool_{1};
  function_queue executor_{1};
};

}  // namespace

TEST_P(elsewhere_threads, a_function_runs_on_another_thread_and_its_caller_continues_at_home) {
  gyre::run([this]() -> gyre::task<> {
    const auto here = std::this_thread::get_id();
    auto where = [] { return std::this_thread::get_id(); };
    EXPECT_NE(co_await call(where), here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
}

TEST_P(elsewhere_threads, a_function_gives_a_move_only_value_nothing_or_an_exception) {
  gyre::run([this]() -> gyre::task<> {
    auto moved = [] { return std::make_unique<int>(7); };
    EXPECT_EQ(*co_await call(moved), 7);
    auto nothing = [] {};
    co_await call(nothing);
    auto fails = []() -> int { throw std::runtime_error("from a thread"); };
    EXPECT_EQ(co_await error_of(call(fails)), "from a thread");
  });
}

TEST_P(elsewhere_threads, a_function_that_blocks_lets_the_loop_go_on) {
  gyre::run([this]() -> gyre::task<> {
    std::binary_semaphore gate(0);
    auto blocks = [&] { gate.acquire(); };
    auto blocked = gyre::spawn(call(blocks));
    for (int i = 0; i < 10; ++i) co_await gyre::yield();
    EXPECT_FALSE(blocked.done());
    gate.release();
    co_await blocked;
  });
}

TEST_P(elsewhere_threads, a_cancel_waits_for_a_function_that_has_begun_and_its_result_wins) {
  gyre::run([this]() -> gyre::task<> {
    std::binary_semaphore begun(0);
    std::binary_semaphore gate(0);
    auto function = [&] {
      begun.release();
      gate.acquire();
      return 5;
    };
    auto task = gyre::spawn(call(function));
    co_await gyre::yield();
    begun.acquire();
    task.cancel();
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(task.done());
    gate.release();
    EXPECT_EQ(co_await task, 5);
  });
}

TEST_P(elsewhere_threads, a_function_that_is_cancelled_while_it_waits_for_a_thread_never_runs) {
  gyre::run([this]() -> gyre::task<> {
    std::counting_semaphore<> begun(0);
    std::counting_semaphore<> gate(0);
    auto block = [&] {
      begun.release();
      gate.acquire();
    };
    std::vector<gyre::task_handle<void>> blocked;
    for (std::ptrdiff_t i = 0; i < threads(); ++i) blocked.push_back(gyre::spawn(call(block)));
    co_await gyre::yield();
    for (std::ptrdiff_t i = 0; i < threads(); ++i) begun.acquire();
    bool ran = false;
    auto function = [&] { ran = true; };
    auto waiting = gyre::spawn(call(function));
    co_await gyre::yield();
    EXPECT_TRUE(co_await cancel_and_wait(waiting));
    gate.release(threads());
    for (auto& each : blocked) co_await each;
    EXPECT_FALSE(ran);
  });
}

TEST_P(elsewhere_threads, a_function_sees_the_task_local_values_of_its_caller) {
  static const gyre::task_local<std::string> request_id;
  auto look = [] { return request_id.get() == nullptr ? std::string("none") : *request_id.get(); };
  gyre::run([&, this]() -> gyre::task<> {
    EXPECT_EQ(co_await call(look), "none");
    const auto bound = request_id.bind("42");
    EXPECT_EQ(co_await call(look), "42");
    auto look_in_a_loop = [&] {
      return gyre::run([&]() -> gyre::task<std::string> {
        auto child = gyre::spawn([&]() -> gyre::task<std::string> { co_return look(); });
        co_return co_await child;
      });
    };
    EXPECT_EQ(co_await call(look_in_a_loop), "42");
    {
      const auto inner = request_id.bind("43");
      EXPECT_EQ(co_await call(look), "43");
    }
    EXPECT_EQ(co_await call(look), "42");
  });
}

INSTANTIATE_TEST_SUITE_P(one, elsewhere_threads, testing::Values(place::to_thread, place::own_pool, place::executor),
                         place_name);
