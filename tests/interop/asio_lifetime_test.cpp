// tests/interop/asio_lifetime_test.cpp: tasks that outlive the context whose objects they use.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_support.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

using namespace gyre_test;

namespace {

/// A session as programs write it: it owns its socket.
gyre::task<> session(tcp::socket peer) {
  char byte = 0;
  co_await peer.async_read_some(asio::buffer(&byte, 1), gyre::use_gyre);
}

void detach_session(tcp::socket peer) { gyre::spawn(session(std::move(peer)), {.eager = true}).detach(); }

}  // namespace

TEST(asio_lifetime, an_asio_on_loop_that_ends_before_a_detached_task_stops_the_program) {
  auto program = []() -> gyre::task<> {
    asio::io_context context;
    const gyre::asio_on_loop asio_side(context);
    asio_pair peers(context);
    detach_session(std::move(peers.server));
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(program),
               "an asio_on_loop was destroyed while a task awaits async_receive at .*asio_lifetime_test.cpp:[0-9]+ on "
               "one of its objects: .*async_scope");
}

TEST(asio_lifetime, an_asio_on_loop_that_ends_stops_the_program_even_if_its_context_remains) {
  asio::io_context context;
  auto program = [&]() -> gyre::task<> {  // would hang: nobody runs the handler of the session
    const gyre::asio_on_loop asio_side(context);
    asio_pair peers(context);
    detach_session(std::move(peers.server));
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(program), "an asio_on_loop was destroyed while a task awaits async_receive");
}

TEST(asio_lifetime, an_asio_thread_that_ends_before_a_detached_task_stops_the_program) {
  auto program = []() -> gyre::task<> {
    gyre::asio_thread asio_side;
    auto peers = std::make_unique<asio_pair>(asio_side.context());
    detach_session(std::move(peers->server));
    auto timed = [](asio::io_context& context) -> gyre::task<> {
      asio::steady_timer timer(context, 1h);
      co_await gyre::timeout(1h, timer.async_wait(gyre::use_gyre));
    };
    gyre::spawn(timed(asio_side.context()), {.eager = true}).detach();
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(program), "a context of Asio .* was destroyed while a task awaits async_");
}

TEST(asio_lifetime, a_context_that_the_program_runs_stops_it_if_it_ends_before_a_detached_task) {
  auto program = []() -> gyre::task<> {
    auto context = std::make_unique<asio::io_context>();
    auto peers = std::make_unique<asio_pair>(*context);
    detach_session(std::move(peers->server));
    context->run_for(1ms);
    peers.reset();
    context.reset();
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(program), "a context of Asio .* was destroyed while a task awaits async_receive");
}

TEST(asio_lifetime, a_task_that_has_not_taken_its_result_yet_still_awaits_it) {
  auto program = []() -> gyre::task<> {
    auto context = std::make_unique<asio::io_context>();
    auto peers = std::make_unique<asio_pair>(*context);
    detach_session(std::move(peers->server));
    context->poll();
    asio::write(peers->client, asio::buffer("x", 1));
    while (context->run_one_for(1ms) == 0) context->restart();  // calls the handler
    peers.reset();
    context.reset();
    co_await gyre::yield();
  };
  EXPECT_DEATH(gyre::run(program), "a context of Asio .* was destroyed while a task awaits async_receive");
}

TEST(asio_lifetime, tasks_of_a_scope_that_is_cancelled_and_joined_end_before_the_context) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    asio_pair peers(asio_side.context());
    gyre::async_scope sessions;
    sessions.spawn(session(std::move(peers.server)));
    co_await gyre::yield();
    sessions.cancel();
    co_await sessions.join();
  });
}

TEST(asio_lifetime, tasks_that_have_ended_do_not_count) {
  gyre::run([]() -> gyre::task<> {
    for (int i = 0; i < 3; ++i) {
      gyre::asio_on_loop asio_side;
      asio_pair peers(asio_side.context());
      auto first = gyre::spawn(session(std::move(peers.server)));
      asio::write(peers.client, asio::buffer("x", 1));
      co_await first;
    }
  });
}

TEST(asio_lifetime, a_program_that_exits_within_a_task_ends_with_its_own_status) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // exit joins threads of other tests, which a forked child lacks
  auto program = []() -> gyre::task<> {
    static asio::io_context context;
    static asio_pair peers(context);
    detach_session(std::move(peers.server));
    co_await gyre::yield();
    std::exit(3);
  };
  EXPECT_EXIT(gyre::run(program), testing::ExitedWithCode(3), "^$");
}
