// tests/loop/timeout_op_test.cpp: a limit on one operation, whenever its result arrives.
#include <gyre/loop/timeout_op.hpp>

#include "tests/support/virtual_run.hpp"

#include <expected>

using namespace gyre_test;

namespace {

/// An operation that ends at once, after a while, or when cancelled.
class manual_op : public gyre::operation<manual_op>, private gyre::timer {
 public:
  enum class ending : bool { at_once, after_a_while };
  explicit manual_op(ending how, std::chrono::milliseconds time = 0ms) : how_(how), time_(time) {}

  bool try_now() noexcept { return how_ == ending::at_once; }
  void start() noexcept {
    fire = gyre::call_member<&manual_op::on_time>;
    deadline = gyre::deadline_after(time_);
    gyre::event_loop::current().timers().arm(*this);
  }
  void on_cancel() noexcept {
    ++cancels;
    if (!armed()) return;
    gyre::event_loop::current().timers().disarm(*this);
    cancelled_ = true;
    finish_soon();
  }
  std::expected<int, std::error_code> take_result() {
    if (!cancelled_) return 7;
    return std::unexpected(cancel_error());
  }
  [[noreturn]] void fail(std::error_code reason) { throw std::system_error(reason, "manual_op"); }

  static inline int cancels = 0;

 private:
  void on_time() noexcept { finish_soon(); }

  ending how_;
  std::chrono::milliseconds time_;
  bool cancelled_ = false;
};

manual_op ready() { return manual_op(manual_op::ending::at_once); }
manual_op ready_after(std::chrono::milliseconds time) { return manual_op(manual_op::ending::after_a_while, time); }

}  // namespace

TEST(timeout_op, gives_the_result_that_comes_in_time) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await gyre::timeout(10ms, ready_after(9ms)), 7);
    EXPECT_EQ(co_await gyre::timeout(0ms, ready()), 7);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout_op, throws_timed_out_when_the_time_is_over_to_the_nanosecond) {
  run_virtual([]() -> gyre::task<> {
    for (int i = 1; i < 2000; ++i) {
      const auto begin = gyre::now();
      bool expired = false;
      try {
        (void)co_await gyre::timeout(std::chrono::microseconds(i), ready_after(1h));
      } catch (const gyre::timed_out&) {
        expired = true;
      }
      EXPECT_TRUE(expired);
      EXPECT_EQ(gyre::now() - begin, std::chrono::microseconds(i));
    }
  });
}

TEST(timeout_op, gives_timed_out_as_a_value_with_as_expected) {
  run_virtual([]() -> gyre::task<> {
    const auto late = co_await gyre::as_expected(gyre::timeout(1ms, ready_after(1h)));
    EXPECT_FALSE(late.has_value());
    EXPECT_EQ(late.error(), std::errc::timed_out);
    const auto in_time = co_await gyre::as_expected(gyre::timeout(ready_after(1ms), 1h));
    EXPECT_EQ(in_time.value(), 7);
  });
}

TEST(timeout_op, a_result_that_waits_for_its_turn_when_the_time_is_over_wins) {
  gyre::testing::test_options one_at_a_time;
  one_at_a_time.loop.ready_per_turn = 1;
  one_at_a_time.loop.virtual_time = false;  // a time-out of zero expires between two turns
  const auto body = []() -> gyre::task<> {
    bool stop = false;
    auto others = gyre::spawn([&]() -> gyre::task<> {
      while (!stop) co_await gyre::yield();
    });
    // The operation is ready at once each time, so its budget is used up several times.
    for (int i = 0; i < 500; ++i) EXPECT_EQ(co_await gyre::timeout(0ms, ready()), 7);
    stop = true;
    co_await others;
  };
  EXPECT_NO_THROW(gyre::testing::run_test(body, one_at_a_time));
}

TEST(timeout_op, asks_an_operation_that_ends_in_the_same_moment_once_at_most) {
  run_virtual([]() -> gyre::task<> {
    manual_op::cancels = 0;
    for (int i = 0; i < 10; ++i) {
      const auto outcome = co_await gyre::as_expected(gyre::timeout(5ms, ready_after(5ms)));
      EXPECT_TRUE(outcome.has_value() || outcome.error() == std::errc::timed_out);
    }
    EXPECT_LE(manual_op::cancels, 10);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout_op, a_cancel_from_outside_is_not_a_time_out_not_even_as_a_value) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      (void)co_await gyre::as_expected(gyre::timeout(1h, ready_after(2h)));
      went_on = true;
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_TRUE(handle.state().was_cancelled());
    EXPECT_FALSE(went_on);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout_op, its_error_names_the_operation_and_the_limit) {
  run_virtual([]() -> gyre::task<> {
    auto limited = gyre::timeout(1500us, ready_after(1h));
    EXPECT_EQ(co_await error_of(std::move(limited)), "manual_op: timed out after 1.5 ms");
  });
}

TEST(timeout_op, two_limits_report_the_one_that_expired) {
  run_virtual([]() -> gyre::task<> {
    auto inner = gyre::timeout(2s, gyre::timeout(10ms, ready_after(1h)));
    EXPECT_EQ(co_await error_of(std::move(inner)), "manual_op: timed out after 10 ms");
    auto outer = gyre::timeout(10ms, gyre::timeout(2s, ready_after(1h)));
    EXPECT_EQ(co_await error_of(std::move(outer)), "manual_op: timed out after 10 ms");
  });
}

TEST(timeout_op, the_code_of_its_error_is_not_a_word_of_the_network) {
  run_virtual([]() -> gyre::task<> {
    const auto late = co_await gyre::as_expected(gyre::timeout(1ms, ready_after(1h)));
    EXPECT_EQ(late.error().message(), "the time limit has passed");
    EXPECT_NE(late.error(), std::errc::connection_reset);
  });
}

// asyncio: timeout(0) around sleep(0).
TEST(timeout_op, a_limit_of_no_time_lets_only_a_result_win_that_is_there_at_once) {
  const auto body = []() -> gyre::task<> {
    for (const auto limit : {0s, -1s}) {
      const auto slept = co_await gyre::as_expected(gyre::timeout(limit, gyre::sleep(0s)));
      EXPECT_FALSE(slept);
      auto inside = []() -> gyre::task<> { co_await gyre::sleep(0s); };
      EXPECT_NE(co_await error_of(gyre::timeout(limit, inside)), "");
      gyre::queue<int> items(1);
      const auto nothing = co_await gyre::as_expected(gyre::timeout(limit, items.get()));
      EXPECT_FALSE(nothing);
      EXPECT_TRUE(items.try_put(7));
      const auto item = co_await gyre::as_expected(gyre::timeout(limit, items.get()));
      EXPECT_EQ(item, 7);
    }
  };
  run_virtual(body);
  gyre::run(body);
}
