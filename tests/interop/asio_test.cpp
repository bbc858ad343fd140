// tests/interop/asio_test.cpp: operations of an io_context on the thread of the loop: results, errors, cancels.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_on_this_loop.hpp"
#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/expect_error.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace gyre_test;

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
