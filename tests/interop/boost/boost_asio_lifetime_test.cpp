// tests/interop/boost/boost_asio_lifetime_test.cpp: tasks that outlive a context of Boost.Asio whose objects they use.
#include <gyre/interop/boost_asio.hpp>

#include "tests/support/virtual_run.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

using namespace gyre_test;
namespace boost_asio = boost::asio;

TEST(boost_asio_lifetime, a_context_that_ends_before_a_detached_task_stops_the_program) {
  auto waits = [](boost_asio::steady_timer timer) -> gyre::task<> { co_await timer.async_wait(gyre::use_gyre); };
  auto on_loop = [&]() -> gyre::task<> {
    boost_asio::io_context context;
    const gyre::boost_asio_on_loop asio_side(context);
    gyre::spawn(waits(boost_asio::steady_timer(context, 1h)), {.eager = true}).detach();
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(on_loop), "an asio_on_loop was destroyed while a task awaits async_wait at .*async_scope");
  auto in_thread = [&]() -> gyre::task<> {
    gyre::boost_asio_thread asio_side;
    gyre::spawn(waits(boost_asio::steady_timer(asio_side.context(), 1h)), {.eager = true}).detach();
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(in_thread), "a context of Asio .* was destroyed while a task awaits async_wait");
}
