// tests/interop/boost/boost_asio_threads_test.cpp: Boost.Asio in a program without the stand-alone Asio. Both define
// names outside their namespace.
#include <gyre/interop/boost_asio.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/virtual_run.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;
namespace boost_asio = boost::asio;
using tcp = boost_asio::ip::tcp;

namespace {

std::error_code standard(boost_asio::error::misc_errors error) { return boost::system::error_code(error); }

gyre::task<std::string> greets(std::string who) {
  co_await gyre::yield();
  co_return "hello " + who;
}
gyre::task<> fails() {
  co_await gyre::yield();
  throw std::runtime_error("in a task");
}

}  // namespace

TEST(boost_asio_threads, a_connection_reads_writes_and_ends) {
  gyre::run([]() -> gyre::task<> {
    gyre::boost_asio_thread asio_side;
    tcp::acceptor acceptor(asio_side.context(), tcp::endpoint(boost_asio::ip::address_v4::loopback(), 0));
    tcp::socket client(asio_side.context());
    co_await client.async_connect(acceptor.local_endpoint(), gyre::use_gyre);
    tcp::socket server = co_await acceptor.async_accept(gyre::use_gyre);
    co_await boost_asio::async_write(client, boost_asio::buffer("hello", 5), gyre::use_gyre);
    std::string buffer(5, '-');
    const std::size_t n = co_await boost_asio::async_read(server, boost_asio::buffer(buffer), gyre::use_gyre);
    EXPECT_EQ(n, 5u);
    EXPECT_EQ(buffer, "hello");
    client.close();
    const std::expected<std::size_t, std::error_code> end =
        co_await gyre::as_expected(server.async_read_some(boost_asio::buffer(buffer), gyre::use_gyre));
    CO_ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error(), standard(boost_asio::error::eof));
  });
}

TEST(boost_asio_threads, an_error_of_the_system_is_one_of_the_standard) {
  gyre::run([]() -> gyre::task<> {
    gyre::boost_asio_thread asio_side;
    tcp::endpoint nobody;
    {
      const tcp::acceptor closed(asio_side.context(), tcp::endpoint(boost_asio::ip::address_v4::loopback(), 0));
      nobody = closed.local_endpoint();
    }
    tcp::socket client(asio_side.context());
    const auto outcome = co_await gyre::as_expected(client.async_connect(nobody, gyre::use_gyre));
    CO_ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error(), std::errc::connection_refused);
    tcp::socket other(asio_side.context());
    const std::string text = co_await error_of(other.async_connect(nobody, gyre::use_gyre));
    EXPECT_EQ(text, "async_connect: Connection refused");
  });
}

TEST(boost_asio_threads, a_cancel_is_told_where_there_are_slots_and_else_waited_for) {
  gyre::run([]() -> gyre::task<> {
    gyre::boost_asio_thread asio_side;
    boost_asio::steady_timer timer(asio_side.context());
    timer.expires_after(gyre::boost_asio_library::has_slots ? std::chrono::milliseconds(3'600'000) : 5ms);
    bool fired = false;
    std::atomic<bool> begun = false;
    auto task = gyre::spawn([&]() -> gyre::task<> {
      auto begin = [&](auto handler) {
        timer.async_wait(std::move(handler));
        begun = true;
      };
      const auto token = gyre::use_gyre_on(asio_side.get_executor());
      co_await boost_asio::async_initiate<decltype(token), void(boost::system::error_code)>(begin, token);
      fired = true;
    });
    while (!begun) co_await gyre::yield();
    task.cancel();
    co_await task.wait();
    EXPECT_NE(fired, gyre::boost_asio_library::has_slots);
  });
}

TEST(boost_asio_threads, a_bound_executor_begins_and_continues_an_operation_in_place_of_that_of_the_object) {
  boost_asio::thread_pool pool(2);
  auto strand = boost_asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> {
    bool began_there = false;
    bool continued_there = false;
    auto begin = [&](auto handler) {
      began_there = strand.running_in_this_thread();
      const auto continues_on = boost_asio::get_associated_executor(handler, pool.get_executor());
      boost_asio::post(continues_on, [&, kept = std::move(handler)]() mutable {
        continued_there = strand.running_in_this_thread();
        std::move(kept)(boost::system::error_code());
      });
    };
    auto token = boost_asio::bind_executor(strand, gyre::use_gyre_on(pool.get_executor()));
    co_await boost_asio::async_initiate<decltype(token), void(boost::system::error_code)>(begin, token);
    EXPECT_TRUE(began_there);
    EXPECT_TRUE(continued_there);
  });
}

TEST(boost_asio_threads, asio_awaits_a_task) {
  gyre::run([]() -> gyre::task<> {
    gyre::event_loop& loop = gyre::event_loop::current();
    auto blocks = [&] {
      std::future<std::string> greeting = gyre::boost_async_run(loop, greets("boost"), boost_asio::use_future);
      EXPECT_EQ(greeting.get(), "hello boost");
      boost_asio::io_context context;
      bool failed = false;
      gyre::boost_async_run(loop, fails(), boost_asio::bind_executor(context, [&](std::exception_ptr failure) {
                              failed = failure != nullptr;
                            }));
      context.run();
      EXPECT_TRUE(failed);
    };
    co_await gyre::to_thread(blocks);
  });
}
