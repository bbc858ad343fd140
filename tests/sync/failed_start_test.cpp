// tests/sync/failed_start_test.cpp: an operation whose start throws has not begun, and leaves nothing behind.
#include <gyre/loop/operation.hpp>

#include "tests/support/virtual_run.hpp"

#include <expected>
#include <new>
#include <system_error>

using namespace gyre_test;

namespace {

struct failing_op : gyre::operation<failing_op> {
  bool try_now() noexcept { return false; }
  void start() { throw std::bad_alloc(); }
  void on_cancel() noexcept {}
  std::expected<void, std::error_code> take_result() { return {}; }
  [[noreturn]] void fail(std::error_code reason) { throw std::system_error(reason); }
  void await_resume() noexcept {}
};

}  // namespace

TEST(failed_start, leaves_a_task_that_can_be_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<> {
      failing_op op;
      EXPECT_THROW(co_await op, std::bad_alloc);
      EXPECT_THROW(co_await op, std::bad_alloc) << "it has not begun, so it may be awaited once more";
      const gyre::task_context& task = co_await gyre::this_task_context{};
      EXPECT_EQ(task.leaf, nullptr);
      EXPECT_EQ(task.innermost, nullptr);
      co_await gyre::sleep(1h);
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
  });
}

TEST(failed_start, arms_no_timer_of_a_time_limit) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_THROW(co_await gyre::timeout(1s, failing_op()), std::bad_alloc);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}
