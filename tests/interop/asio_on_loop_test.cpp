// tests/interop/asio_on_loop_test.cpp: one thread for a loop and an io_context: wake-ups, fairness and the end.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/net/connected_pair.hpp"
#include "tests/support/cancels.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

// Posts itself again until `enough` is true.
void post_again(asio::io_context& context, const bool& enough) {
  if (!enough) asio::post(context, [&] { post_again(context, enough); });
}

}  // namespace

TEST(asio_on_loop, a_timer_of_the_loop_is_kept_while_asio_has_nothing_to_do) {
  run_test([]() -> gyre::task<> {
    const gyre::asio_on_loop asio_side;
    EXPECT_EQ(co_await value_after(2ms, 7), 7);
    EXPECT_EQ(co_await value_after(1ms, 8), 8) << "an earlier time than the one that was waited for last";
  });
}

TEST(asio_on_loop, a_socket_of_the_loop_wakes_it_while_asio_waits) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    asio::steady_timer never(asio_side.context(), 1h);
    bool fired = false;
    never.async_wait([&](std::error_code) { fired = true; });
    auto pair = co_await connect_pair();
    for (int i = 0; i < 100; ++i) {
      auto answer = [&]() -> gyre::task<> {
        const gyre::buffer_lease lease = co_await pair.server.receive();
        co_await pair.server.write_all(lease.bytes());
      };
      auto answering = gyre::spawn(answer);
      co_await pair.client.write_all("ping");
      std::string text(4, '-');
      co_await pair.client.read_exactly(std::span<char>(text));
      EXPECT_EQ(text, "ping");
      co_await answering;
    }
    EXPECT_FALSE(fired);
  });
}

TEST(asio_on_loop, a_socket_of_asio_wakes_the_loop) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    tcp::acceptor acceptor(asio_side.context(), any_port());
    auto client = co_await gyre::tcp_stream::connect(address_of(acceptor));
    tcp::socket peer = co_await acceptor.async_accept(gyre::use_gyre);
    auto ping = [&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      co_await client.write_all("ping");
    };
    auto pinging = gyre::spawn(ping);
    std::string text(4, '-');
    EXPECT_EQ(co_await asio::async_read(peer, asio::buffer(text), gyre::use_gyre), 4U);
    EXPECT_EQ(text, "ping");
    co_await pinging;
  });
}

TEST(asio_on_loop, a_handler_may_use_what_belongs_to_the_loop) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    gyre::event rung;
    std::thread::id handler_ran_on;
    asio::steady_timer timer(asio_side.context(), 1ms);
    timer.async_wait([&](std::error_code) {
      handler_ran_on = std::this_thread::get_id();
      rung.set();
    });
    co_await rung.wait();
    EXPECT_EQ(handler_ran_on, std::this_thread::get_id());
  });
}

TEST(asio_on_loop, a_task_that_a_handler_spawns_or_cancels_runs_before_the_loop_waits_again) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    auto pair = co_await connect_pair();
    auto read = [&]() -> gyre::task<> { (void)co_await pair.server.receive(); };
    auto reading = gyre::spawn(read);
    std::optional<gyre::task_handle<int>> spawned;
    asio::steady_timer timer(asio_side.context(), 1ms);
    timer.async_wait([&](std::error_code) {
      reading.cancel();
      spawned = gyre::spawn(value_after(1ms, 9), {.eager = true});
    });
    co_await reading.wait();
    EXPECT_EQ(co_await *spawned, 9);
  });
}

TEST(asio_on_loop, a_post_from_another_thread_wakes_whichever_it_is_for) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    gyre::event from_loop;
    gyre::event from_asio;
    gyre::event_loop& loop = gyre::event_loop::current();
    {
      std::jthread other([&] {
        loop.post([&] { from_loop.set(); });
        asio::post(asio_side.context(), [&] { from_asio.set(); });
      });
      co_await from_loop.wait();
      co_await from_asio.wait();
    }
    EXPECT_EQ(co_await gyre::to_thread([] { return 5; }), 5);
  });
}

TEST(asio_on_loop, an_operation_begins_where_it_is_awaited_without_a_detour) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    asio::steady_timer timer(asio_side.context(), 1h);
    auto wait = [&]() -> gyre::task<> { co_await timer.async_wait(gyre::use_gyre); };
    auto waiting = gyre::spawn(wait, {.eager = true});
    EXPECT_EQ(timer.cancel(), 1U);
    co_await waiting.wait();
  });
}

TEST(asio_on_loop, handlers_that_always_have_more_to_do_leave_time_for_tasks) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    bool enough = false;
    post_again(asio_side.context(), enough);
    EXPECT_EQ(co_await value_after(1ms, 3), 3);
    enough = true;
    co_await gyre::yield();
  });
}

TEST(asio_on_loop, tasks_that_are_always_ready_leave_time_for_handlers) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    bool called = false;
    asio::steady_timer timer(asio_side.context(), 1ms);
    timer.async_wait([&](std::error_code) { called = true; });
    while (!called) co_await gyre::yield();
  });
}

TEST(asio_on_loop, an_exception_of_a_handler_is_reported_and_the_others_go_on) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    std::string reported;
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure& failure, void* into) noexcept {
          try {
            std::rethrow_exception(failure.exception);
          } catch (const std::exception& error) {
            *static_cast<std::string*>(into) = error.what();
          }
        },
        &reported);
    gyre::event second;
    asio::post(asio_side.context(), [] { throw std::runtime_error("no luck"); });
    asio::post(asio_side.context(), [&] { second.set(); });
    co_await second.wait();
    EXPECT_EQ(reported, "no luck");
  });
}

TEST(asio_on_loop, a_context_that_is_stopped_is_left_alone_until_it_is_restarted) {
  run_test([]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    asio_side.context().stop();
    bool called = false;
    asio::post(asio_side.context(), [&] { called = true; });
    EXPECT_EQ(co_await value_after(1ms, 4), 4);
    EXPECT_FALSE(called);
    asio_side.context().restart();
    while (!called) co_await gyre::sleep(1ms);
  });
}

TEST(asio_on_loop, a_context_that_had_run_out_of_work_is_driven_all_the_same) {
  asio::io_context context;
  context.run();
  EXPECT_TRUE(context.stopped());
  run_test([&]() -> gyre::task<> {
    gyre::asio_on_loop asio_side(context);
    asio::steady_timer timer(context, 1ms);
    co_await timer.async_wait(gyre::use_gyre);
  });
}

TEST(asio_on_loop, a_context_that_is_there_already_is_driven_and_outlives_it) {
  asio::io_context context;
  int called = 0;
  run_test([&]() -> gyre::task<> {
    gyre::asio_on_loop asio_side(context);
    asio::post(context, [&] { ++called; });
    co_await value_after(1ms, 0);
  });
  EXPECT_EQ(called, 1);
  context.restart();
  asio::post(context, [&] { ++called; });
  context.run_for(1s);  // nothing of the loop is left in the context to wait for
  EXPECT_EQ(called, 2);
}

TEST(asio_on_loop, the_end_of_the_loop_cancels_what_waits_in_asio) {
  asio::io_context context;
  int cancels = 0;
  {
    gyre::event_loop loop;
    const gyre::asio_on_loop asio_side(context);
    asio::steady_timer never(context, 1h);
    gyre::spawn(count_cancel(cancels, never.async_wait(gyre::use_gyre)), {.eager = true}).detach();
    loop.shutdown();
  }
  EXPECT_EQ(cancels, 1);
}

TEST(asio_on_loop, a_loop_drives_one_context_and_then_another) {
  run_test([]() -> gyre::task<> {
    {
      gyre::asio_on_loop first;
      EXPECT_THROW(gyre::asio_on_loop(), std::logic_error);
      asio::steady_timer timer(first.context(), 1ms);
      co_await timer.async_wait(gyre::use_gyre);
    }
    gyre::asio_on_loop second;
    asio::steady_timer timer(second.context(), 1ms);
    co_await timer.async_wait(gyre::use_gyre);
  });
}

TEST(asio_on_loop, is_refused_on_virtual_time) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_THROW(gyre::asio_on_loop(), std::logic_error);
    co_return;
  });
}
