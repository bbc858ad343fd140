// tests/interop/asio_end_threads_test.cpp: cancels and ends of operations of an io_context in its own thread.
#include <gyre/interop/asio.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/error_of.hpp"

#include <memory>
#include <semaphore>
#include <string>

using namespace gyre_test;

TEST(asio_threads, a_cancel_ends_what_another_thread_does) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    asio::steady_timer timer(asio_side.context(), 1h);
    for (int i = 0; i < 200; ++i) {
      auto task = gyre::spawn([&]() -> gyre::task<> { co_await timer.async_wait(gyre::use_gyre); });
      for (int turns = i % 20; turns > 0; --turns) co_await gyre::yield();
      CO_ASSERT_TRUE(co_await cancel_and_wait(task));
    }
  });
}

TEST(asio_threads, a_cancel_and_a_result_at_the_same_time_are_one_of_both) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    int results = 0;
    int cancels = 0;
    for (int i = 0; i < 500; ++i) {
      asio::steady_timer timer(asio_side.context(), std::chrono::microseconds(i % 100));
      auto task = gyre::spawn([&]() -> gyre::task<> {
        co_await timer.async_wait(gyre::use_gyre);
        ++results;
      });
      co_await gyre::sleep(std::chrono::microseconds(i % 50));
      if (co_await cancel_and_wait(task)) ++cancels;
    }
    EXPECT_EQ(results + cancels, 500);
  });
}

TEST(asio_threads, the_end_of_the_loop_cancels_and_waits) {
  gyre::asio_thread asio_side;
  asio::steady_timer timer(asio_side.context(), 1h);
  int cancels = 0;
  gyre::run([&]() -> gyre::task<> {
    gyre::spawn(count_cancel(cancels, timer.async_wait(gyre::use_gyre))).detach();
    co_await gyre::yield();
  });
  EXPECT_EQ(cancels, 1);
}

TEST(asio_threads, an_await_hears_of_the_end_of_the_thread) {
  gyre::run([]() -> gyre::task<> {
    auto asio_side = std::make_unique<gyre::asio_thread>();
    const auto token = gyre::use_gyre_on(asio_side->get_executor());
    std::binary_semaphore begun(0);
    auto begin = [&](auto handler) {
      asio_side->context().stop();
      asio::post(asio_side->context(), [kept = std::move(handler)]() mutable { std::move(kept)(std::error_code()); });
      begun.release();
    };
    auto is_dropped = [&]() -> gyre::task<bool> {
      co_return co_await throws<gyre::callback_dropped>(
          asio::async_initiate<decltype(token), void(std::error_code)>(begin, token));
    };
    auto task = gyre::spawn(is_dropped);
    co_await gyre::yield();
    begun.acquire();
    asio_side.reset();
    EXPECT_TRUE(co_await task);
  });
}

TEST(asio_threads, a_cancel_at_every_await_leaves_nothing_behind) {
  gyre::asio_thread asio_side;
  tcp::acceptor(asio_side.context(), any_port());  // now the context has opened its own descriptors
  const auto scenario = [&]() -> gyre::task<> {
    tcp::acceptor acceptor(asio_side.context(), any_port());
    tcp::socket client(asio_side.context());
    co_await client.async_connect(acceptor.local_endpoint(), gyre::use_gyre);
    tcp::socket server = co_await acceptor.async_accept(gyre::use_gyre);
    asio::steady_timer timer(asio_side.context(), 1ms);
    co_await timer.async_wait(gyre::use_gyre);
    std::string bytes(64, 'x');
    co_await asio::async_write(client, asio::buffer(bytes), gyre::use_gyre);
    co_await asio::async_read(server, asio::buffer(bytes), gyre::use_gyre);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 0u);
}
