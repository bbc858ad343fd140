// tests/tasks/for_each_loop_threads_test.cpp: a function on all loops of the runtime.
#include <gyre/tasks/on.hpp>

#include "tests/support/virtual_run.hpp"

#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

template <class F>
void run_three_loops(F body) {
  gyre::run(std::move(body), {.threads = 3});
}

}  // namespace

TEST(for_each_loop_threads, runs_a_function_on_every_loop_and_the_results_come_in_the_order_of_the_loops) {
  run_three_loops([]() -> gyre::task<> {
    const std::vector<std::size_t> seen =
        co_await gyre::for_each_loop([] { return gyre::event_loop::current().index(); });
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2}));
  });
}

TEST(for_each_loop_threads, cancels_the_others_at_the_first_failure) {
  run_three_loops([]() -> gyre::task<> {
    auto fail_on_one = []() -> gyre::task<> {
      if (gyre::event_loop::current().index() == 1) throw std::runtime_error("one");
      co_await gyre::sleep(1h);
    };
    EXPECT_THROW(co_await gyre::for_each_loop(fail_on_one), std::runtime_error);
  });
}

TEST(for_each_loop_threads, throws_failures_of_all_loops_as_a_group) {
  run_three_loops([]() -> gyre::task<> {
    std::latch all_run(3);
    auto fail = [&]() -> gyre::task<> {
      co_await gyre::yield();
      all_run.arrive_and_wait();
      throw std::runtime_error("loop " + std::to_string(gyre::event_loop::current().index()));
    };
    const std::string text = co_await error_of(gyre::for_each_loop(fail));
    EXPECT_TRUE(text.starts_with("3 tasks failed: ")) << text;
    for (const char* each : {"loop 0", "loop 1", "loop 2"}) EXPECT_NE(text.find(each), std::string::npos) << text;
  });
}

TEST(for_each_loop_threads, runs_a_function_once_on_a_loop_outside_of_a_runtime) {
  gyre::event_loop alone;
  bool done = false;
  auto task = gyre::spawn([&]() -> gyre::task<> {
    const auto seen = co_await gyre::for_each_loop([] { return 1; });
    EXPECT_EQ(seen.size(), 1U);
    done = true;
  });
  alone.run_until(done);
}
