// tests/interop/asio_run_threads_test.cpp: Asio awaits tasks of gyre as futures, callbacks and coroutines, with cancels
// in both directions.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/loop_thread.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/experimental/awaitable_operators.hpp>

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

gyre::task<std::string> greets(std::string who) {
  co_await gyre::sleep(1ms);
  co_return "hello " + who;
}
gyre::task<> fails(const char* why) {
  co_await gyre::yield();
  throw std::runtime_error(why);
}
gyre::task<> waits_for_ever() { co_await gyre::sleep(1h); }

}  // namespace

TEST(asio_run_threads, gives_the_result_of_a_task_to_a_future) {
  loop_thread gyre_side;
  std::future<std::string> greeting = gyre::async_run(gyre_side.loop(), greets("future"), asio::use_future);
  EXPECT_EQ(greeting.get(), "hello future");
  std::future<void> failure = gyre::async_run(gyre_side.loop(), fails("in a task"), asio::use_future);
  EXPECT_THROW(failure.get(), std::runtime_error);
}

TEST(asio_run_threads, runs_a_function_that_gives_a_task) {
  loop_thread gyre_side;
  auto adds = [owned = std::make_unique<int>(3)]() -> gyre::task<int> {
    co_await gyre::sleep(1ms);
    co_return *owned + 1;
  };
  std::future<int> sum = gyre::async_run(gyre_side.loop(), std::move(adds), asio::use_future);
  EXPECT_EQ(sum.get(), 4);
}

TEST(asio_run_threads, calls_a_handler_through_its_executor_for_which_its_context_waits) {
  loop_thread gyre_side;
  asio::io_context context;
  std::optional<std::string> greeting;
  std::thread::id called_on;
  gyre::async_run(gyre_side.loop(), greets("handler"),
                  asio::bind_executor(context, [&](std::exception_ptr failure, std::string result) {
                    EXPECT_FALSE(failure);
                    greeting = std::move(result);
                    called_on = std::this_thread::get_id();
                  }));
  context.run();
  EXPECT_EQ(greeting, "hello handler");
  EXPECT_EQ(called_on, std::this_thread::get_id());
}

TEST(asio_run_threads, calls_a_handler_without_an_executor_on_the_loop) {
  loop_thread gyre_side;
  std::promise<std::thread::id> called_on;
  gyre::async_run(gyre_side.loop(), fails("in a task"), [&](std::exception_ptr failure) {
    EXPECT_TRUE(failure);
    called_on.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(called_on.get_future().get(), std::this_thread::get_id());
}

TEST(asio_run_threads, is_awaited_by_coroutines_of_asio) {
  loop_thread gyre_side;
  asio::io_context context;
  std::string greeting;
  auto body = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 20; ++i)
      greeting = co_await gyre::async_run(gyre_side.loop(), greets("awaitable"), asio::use_awaitable);
    bool thrown = false;
    try {
      co_await gyre::async_run(gyre_side.loop(), fails("in a task"), asio::use_awaitable);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  };
  asio::co_spawn(context, body(), asio::detached);
  context.run();
  EXPECT_EQ(greeting, "hello awaitable");
}

TEST(asio_run_threads, cancels_the_task_through_the_slot_of_the_handler) {
  loop_thread gyre_side;
  asio::io_context context;
  asio::cancellation_signal signal;
  std::exception_ptr failure;
  gyre::async_run(gyre_side.loop(), waits_for_ever(),
                  asio::bind_executor(context, asio::bind_cancellation_slot(
                                                   signal.slot(), [&](std::exception_ptr what) { failure = what; })));
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  ASSERT_TRUE(failure);
  EXPECT_TRUE(gyre::asio_library::is_aborted(failure));
}

TEST(asio_run_threads, cancels_the_task_that_loses_a_race_of_asio) {
  using namespace asio::experimental::awaitable_operators;
  loop_thread gyre_side;
  asio::io_context context;
  std::size_t winner = 7;
  auto body = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 1ms);
    const auto first = co_await (gyre::async_run(gyre_side.loop(), waits_for_ever(), asio::use_awaitable) ||
                                 timer.async_wait(asio::use_awaitable));
    winner = first.index();
  };
  asio::co_spawn(context, body(), asio::detached);
  context.run();
  EXPECT_EQ(winner, 1u);
}

TEST(asio_run_threads, is_aborted_by_the_end_of_the_loop) {
  auto gyre_side = std::make_unique<loop_thread>();
  std::future<void> never = gyre::async_run(gyre_side->loop(), waits_for_ever(), asio::use_future);
  gyre_side.reset();
  try {
    never.get();
    ADD_FAILURE() << "it waits for ever";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::operation_aborted);
  }
}

TEST(asio_run_threads, calls_nobody_when_the_io_context_is_gone) {
  loop_thread gyre_side;
  std::promise<gyre::event*> waiting;
  auto work = [&]() -> gyre::task<> {
    gyre::event go_on;
    waiting.set_value(&go_on);
    co_await go_on.wait();
  };
  bool called = false;
  {
    asio::io_context context;
    gyre::async_run(gyre_side.loop(), work(), asio::bind_executor(context, [&](std::exception_ptr) { called = true; }));
    gyre::event* const go_on = waiting.get_future().get();
    gyre_side.loop().post([go_on] { go_on->set(); });
    gyre::blocking_run(gyre_side.loop(), greets("order"));  // now the call waits in the context
  }
  EXPECT_FALSE(called);
}

TEST(asio_run_threads, lets_a_task_await_a_coroutine_of_asio_that_awaits_a_task) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    gyre::event_loop& loop = gyre::event_loop::current();
    auto middle = [&]() -> asio::awaitable<std::string> {
      co_return co_await gyre::async_run(loop, greets("there"), asio::use_awaitable) + " and back";
    };
    const std::string greeting = co_await asio::co_spawn(asio_side.context(), middle(), gyre::use_gyre);
    EXPECT_EQ(greeting, "hello there and back");
  });
}

TEST(asio_run_threads, is_cancelled_through_a_coroutine_of_asio) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    gyre::event_loop& loop = gyre::event_loop::current();
    auto middle = [&]() -> asio::awaitable<void> {
      co_await gyre::async_run(loop, waits_for_ever(), asio::use_awaitable);
    };
    EXPECT_TRUE(co_await is_cancelled_after(
        1ms, [&]() -> gyre::task<> { co_await asio::co_spawn(asio_side.context(), middle(), gyre::use_gyre); }));
  });
}
