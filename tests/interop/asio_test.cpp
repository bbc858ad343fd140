// tests/interop/asio_test.cpp: operations of an io_context on the thread of the loop: results, errors, cancels.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/expect_error.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace gyre_test;

namespace {

/// Runs `body(context)` with the context on the thread of the loop.
template <class Body>
void run_with_context(Body body) {
  auto all = [&]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    co_await body(asio_side.context());
  };
  EXPECT_NO_THROW(gyre::run(all));
}

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

TEST(asio_await, gives_the_value_behind_the_error_code) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    std::string buffer(16, '-');
    const std::size_t sent = co_await pair.client.async_write_some(asio::buffer("hello", 5), gyre::use_gyre);
    EXPECT_EQ(sent, 5u);
    const std::size_t n = co_await pair.server.async_read_some(asio::buffer(buffer), gyre::use_gyre);
    EXPECT_EQ(buffer.substr(0, n), "hello");
  });
}

TEST(asio_await, waits_for_a_timer) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio::steady_timer timer(context, 1ms);
    co_await timer.async_wait(gyre::use_gyre);
    EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());
  });
}

TEST(asio_await, needs_no_token_on_an_object_whose_default_is_use_gyre) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    gyre::use_gyre_t::as_default_on_t<asio::steady_timer> timer(context, 1ms);
    co_await timer.async_wait();
    EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());

    auto acceptor = gyre::use_gyre_t::as_default_on(tcp::acceptor(context, any_port()));
    gyre::use_gyre_t::as_default_on_t<tcp::socket> client(context);
    const auto address = acceptor.local_endpoint();
    co_await client.async_connect(address);
    auto server = co_await acceptor.async_accept();  // it has the default as well
    const std::size_t sent = co_await asio::async_write(client, asio::buffer("hello", 5));
    EXPECT_EQ(sent, 5u);
    std::string buffer(5, '-');
    co_await asio::async_read(server, asio::buffer(buffer));
    EXPECT_EQ(buffer, "hello");
  });
}

TEST(asio_cancel, reaches_an_object_with_the_default_token) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    gyre::use_gyre_t::as_default_on_t<asio::steady_timer> timer(context, 1h);
    co_await expect_time_out(gyre::timeout(1ms, timer.async_wait()));
  });
}

TEST(asio_await, gives_several_values_as_a_tuple_and_none_as_void) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    auto two = [](auto handler) { handler(std::error_code(), 7, std::string("seven")); };
    const std::tuple<int, std::string> both =
        co_await asio::async_initiate<const gyre::use_gyre_t, void(std::error_code, int, std::string)>(two,
                                                                                                       gyre::use_gyre);
    EXPECT_EQ(std::get<0>(both), 7);
    EXPECT_EQ(std::get<1>(both), "seven");
    auto no_error = [](auto handler) { handler(std::make_unique<int>(8)); };
    const std::unique_ptr<int> owned =
        co_await asio::async_initiate<const gyre::use_gyre_t, void(std::unique_ptr<int>)>(no_error, gyre::use_gyre);
    EXPECT_EQ(*owned, 8);
    auto nothing = [](auto handler) { handler(); };
    co_await asio::async_initiate<const gyre::use_gyre_t, void()>(nothing, gyre::use_gyre);
  });
}

TEST(asio_await, throws_the_exception_that_a_handler_is_given) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    auto throws = [](auto handler) { handler(std::make_exception_ptr(std::runtime_error("from afar")), 0); };
    EXPECT_EQ(co_await error_of(
                  asio::async_initiate<const gyre::use_gyre_t, void(std::exception_ptr, int)>(throws, gyre::use_gyre)),
              "from afar");
    auto value = [](auto handler) { handler(std::exception_ptr(), 3); };
    const int n =
        co_await asio::async_initiate<const gyre::use_gyre_t, void(std::exception_ptr, int)>(value, gyre::use_gyre);
    EXPECT_EQ(n, 3);
  });
}

TEST(asio_await, returns_if_the_operation_completes_inside_its_initiation) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    int sum = 0;
    auto at_once = [](auto handler, int n) { handler(std::error_code(), n); };
    for (int i = 0; i < 100'000; ++i)
      sum +=
          co_await asio::async_initiate<const gyre::use_gyre_t, void(std::error_code, int)>(at_once, gyre::use_gyre, 1);
    EXPECT_EQ(sum, 100'000);
  });
}

TEST(asio_await, begins_when_it_is_awaited) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    by_hand hand;
    auto later = hand.async_wait(gyre::use_gyre);
    EXPECT_EQ(hand.begun, 0);
    gyre::spawn([&]() -> gyre::task<> {
      hand.complete({}, 5);
      co_return;
    }).detach();
    EXPECT_EQ(co_await std::move(later), 5u);
    EXPECT_EQ(hand.begun, 1);
  });
}

TEST(asio_await, throws_an_error_code_with_the_name_of_the_operation) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    pair.client.close();
    std::string buffer(16, '-');
    try {
      co_await pair.server.async_read_some(asio::buffer(buffer), gyre::use_gyre);
      ADD_FAILURE() << "read from a closed stream";
    } catch (const gyre::io_error& error) {
      EXPECT_EQ(error.code(), asio::error::eof);
      EXPECT_TRUE(std::string(error.what()).starts_with("async_receive: ")) << error.what();
    }
  });
}

TEST(asio_await, gives_its_error_code_to_as_expected) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    pair.client.close();
    std::string buffer(16, '-');
    const std::expected<std::size_t, std::error_code> end =
        co_await gyre::as_expected(pair.server.async_read_some(asio::buffer(buffer), gyre::use_gyre));
    CO_ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error(), asio::error::eof);
  });
}

TEST(asio_await, counts_the_bytes_before_an_error) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    asio_pair pair(context);
    asio::write(pair.client, asio::buffer("abc", 3));
    pair.client.close();
    std::string buffer(16, '-');
    try {
      co_await asio::async_read(pair.server, asio::buffer(buffer), gyre::use_gyre);
      ADD_FAILURE() << "read more than there was";
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 3u);
      EXPECT_EQ(error.code(), asio::error::eof);
    }
  });
}

TEST(asio_await, throws_what_the_initiation_throws) {
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    auto throws = [](auto) { throw std::runtime_error("not begun"); };
    EXPECT_EQ(
        co_await error_of(asio::async_initiate<const gyre::use_gyre_t, void(std::error_code)>(throws, gyre::use_gyre)),
        "not begun");
    const auto token = gyre::use_gyre_on(context.get_executor());
    EXPECT_EQ(co_await error_of(asio::async_initiate<decltype(token), void(std::error_code)>(throws, token)),
              "not begun");
  });
}

TEST(asio_await, hears_of_a_handler_that_is_dropped) {
  run_with_context([](asio::io_context&) -> gyre::task<> {
    by_hand hand;
    gyre::spawn([&]() -> gyre::task<> {
      hand.drop();
      co_return;
    }).detach();
    EXPECT_TRUE(co_await throws<gyre::callback_dropped>(hand.async_wait(gyre::use_gyre)));
  });
}

TEST(asio_await, hears_of_the_end_of_an_io_context_without_objects) {
  gyre::run([]() -> gyre::task<> {
    auto context = std::make_unique<asio::io_context>();
    auto timer = std::make_unique<asio::steady_timer>(*context, 1h);
    const auto token = gyre::use_gyre_on(context->get_executor());
    auto begin = [&](auto handler) { timer->async_wait(std::move(handler)); };
    auto is_dropped = [&]() -> gyre::task<bool> {
      co_return co_await throws<gyre::callback_dropped>(
          asio::async_initiate<decltype(token), void(std::error_code)>(begin, token));
    };
    auto begun = gyre::spawn(is_dropped);
    co_await gyre::yield();
    context->poll();
    auto not_begun = gyre::spawn(is_dropped);
    co_await gyre::yield();
    timer.reset();
    context.reset();
    EXPECT_TRUE(co_await begun);
    EXPECT_TRUE(co_await not_begun);
  });
}

TEST(asio_await, throws_the_exception_of_a_result_that_is_moved) {
  struct heavy {
    heavy() = default;
    heavy(const heavy&) = default;
    heavy(heavy&& /*other*/) { throw std::runtime_error("too heavy"); }
  };
  run_with_context([](asio::io_context& context) -> gyre::task<> {
    const auto token = gyre::use_gyre_on(context.get_executor());
    auto begin = [](auto handler) { std::move(handler)(std::error_code(), heavy()); };
    auto give = [&] { return asio::async_initiate<decltype(token), void(std::error_code, heavy)>(begin, token); };
    EXPECT_EQ(co_await error_of(give()), "too heavy");
  });
}

// ---- cancel

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
