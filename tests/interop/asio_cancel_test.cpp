// tests/interop/asio_cancel_test.cpp: operations of an io_context on the thread of the loop: cancels.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_on_this_loop.hpp"
#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/expect_error.hpp"

#include <string>

using namespace gyre_test;

namespace {

/// A task that awaits an operation by hand.
template <class Token>
struct awaiting {
  by_hand hand;
  std::size_t result = 0;
  gyre::task_handle<void> task;

  explicit awaiting(Token token)
      : task(gyre::spawn([this, token]() -> gyre::task<> { result = co_await hand.async_wait(token); })) {}
  gyre::task<> until_begun() const {
    while (hand.begun == 0) co_await gyre::yield();
  }
  gyre::task<> until_asked() const {
    while (hand.asked == 0) co_await gyre::yield();
  }
};

}  // namespace

TEST(asio_cancel, reaches_an_object_with_the_default_token) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    gyre::use_gyre_t::as_default_on_t<asio::steady_timer> timer(context, 1h);
    co_await expect_time_out(gyre::timeout(1ms, timer.async_wait()));
  });
}

TEST(asio_cancel, that_comes_before_the_await_lets_nothing_begin) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    awaiting waits(gyre::use_gyre_on(context.get_executor()));
    const bool cancelled = co_await cancel_and_wait(waits.task);
    EXPECT_TRUE(cancelled);
    EXPECT_EQ(waits.hand.begun, 0);
  });
}

TEST(asio_cancel, withdraws_what_the_executor_has_not_begun) {
  gyre::run([]() -> gyre::task<> {
    asio::io_context context;
    awaiting waits(gyre::use_gyre_on(context.get_executor()));
    co_await gyre::yield();
    waits.task.cancel();
    co_await gyre::yield();
    EXPECT_FALSE(waits.task.done());  // the executor still holds it
    context.poll();
    co_await waits.task.wait();
    EXPECT_TRUE(waits.task.state().was_cancelled());
    EXPECT_EQ(waits.hand.begun, 0);
  });
}

TEST(asio_cancel, asks_through_the_slot_and_waits_for_the_handler) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    awaiting waits(gyre::use_gyre_on(context.get_executor()));
    co_await waits.until_begun();
    EXPECT_EQ(waits.hand.asked, 0);
    waits.task.cancel();
    co_await waits.until_asked();
    for (int i = 0; i < 10; ++i) co_await gyre::yield();
    EXPECT_FALSE(waits.task.done());
    waits.hand.complete(asio::error::operation_aborted, 0);
    co_await waits.task.wait();
    EXPECT_TRUE(waits.task.state().was_cancelled());
    EXPECT_EQ(waits.hand.asked, 1);
  });
}

TEST(asio_cancel, gives_way_to_a_result_that_comes_after_it) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    awaiting waits(gyre::use_gyre_on(context.get_executor()));
    co_await waits.until_begun();
    waits.task.cancel();
    co_await waits.until_asked();
    waits.hand.complete({}, 9);
    co_await waits.task.wait();
    EXPECT_EQ(waits.result, 9u);
  });
}

TEST(asio_cancel, comes_too_late_after_the_handler_was_called) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    awaiting waits(gyre::use_gyre_on(context.get_executor()));
    co_await waits.until_begun();
    waits.hand.complete({}, 9);
    waits.task.cancel();
    co_await waits.task.wait();
    EXPECT_EQ(waits.result, 9u);
    EXPECT_EQ(waits.hand.asked, 0);
  });
}

TEST(asio_cancel, waits_for_an_operation_without_an_executor) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    awaiting waits(gyre::use_gyre);
    co_await waits.until_begun();
    waits.task.cancel();
    for (int i = 0; i < 10; ++i) co_await gyre::yield();
    EXPECT_FALSE(waits.task.done());
    EXPECT_EQ(waits.hand.asked, 0);
    waits.hand.complete({}, 4);
    co_await waits.task.wait();
    EXPECT_EQ(waits.result, 4u);
  });
}

TEST(asio_cancel, ends_reads_timers_and_composed_operations) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    asio::steady_timer timer(context, 1h);
    tcp::acceptor acceptor(context, any_port());
    std::string some(16, '-');
    std::string whole(16, '-');
    auto group = [&](gyre::task_group& tasks) -> gyre::task<> {
      tasks.spawn([&]() -> gyre::task<> { co_await pair.client.async_read_some(asio::buffer(some), gyre::use_gyre); });
      tasks.spawn(
          [&]() -> gyre::task<> { co_await asio::async_read(pair.server, asio::buffer(whole), gyre::use_gyre); });
      tasks.spawn([&]() -> gyre::task<> { co_await timer.async_wait(gyre::use_gyre); });
      tasks.spawn([&]() -> gyre::task<> { co_await acceptor.async_accept(gyre::use_gyre); });
      for (int i = 0; i < 10; ++i) co_await gyre::yield();
      tasks.cancel();
    };
    co_await gyre::task_group::scope(group);
    std::string buffer(16, '-');
    asio::write(pair.client, asio::buffer("on", 2));  // the sockets still work
    EXPECT_EQ(co_await pair.server.async_read_some(asio::buffer(buffer), gyre::use_gyre), 2u);
  });
}

TEST(asio_cancel, is_a_time_out_when_a_time_limit_ends_it) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    std::string buffer(16, '-');
    const auto n = co_await gyre::as_expected(
        gyre::timeout(1ms, pair.client.async_read_some(asio::buffer(buffer), gyre::use_gyre)));
    CO_ASSERT_FALSE(n.has_value());
    EXPECT_EQ(n.error(), std::errc::timed_out);
    co_await expect_time_out(gyre::timeout(1ms, pair.client.async_read_some(asio::buffer(buffer), gyre::use_gyre)));
  });
}

TEST(asio_cancel, reaches_an_operation_behind_an_adapter) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio::steady_timer timer(context, 2s);
    auto waits = timer.async_wait(asio::bind_executor(context.get_executor(), gyre::use_gyre));
    co_await expect_time_out(gyre::timeout(1ms, std::move(waits)));
  });
}

TEST(asio_cancel, asks_the_loser_of_a_race_to_end) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio::steady_timer early(context, 1ms);
    asio::steady_timer late(context, 1h);
    const auto first = co_await gyre::race(early.async_wait(gyre::use_gyre), late.async_wait(gyre::use_gyre));
    EXPECT_EQ(first.index, 0u);
  });
}

TEST(asio_cancel, that_others_made_is_an_error) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio::steady_timer timer(context, 1h);
    gyre::spawn([&]() -> gyre::task<> {
      for (int i = 0; i < 3; ++i) co_await gyre::yield();
      timer.cancel();
    }).detach();
    const auto outcome = co_await gyre::as_expected(timer.async_wait(gyre::use_gyre));
    CO_ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error(), asio::error::operation_aborted);
  });
}
