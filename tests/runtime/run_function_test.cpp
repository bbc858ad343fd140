// tests/runtime/run_function_test.cpp: functions and lambdas as the main task.
#include <gyre/runtime/run.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>

namespace {

gyre::task<int> code() { co_return 3; }
gyre::task<> nothing() { co_return; }

}  // namespace

TEST(run_main, takes_a_function_or_a_lambda_with_captures) {
  EXPECT_EQ(gyre::run_main(code), 3);
  EXPECT_EQ(gyre::run_main(nothing), 0);
  EXPECT_EQ(gyre::run_main([text = std::string("four")]() -> gyre::task<int> {
              co_await gyre::yield();
              co_return static_cast<int>(text.size());
            }),
            4);
}

TEST(run_main, the_main_task_is_named_with_the_line_that_has_started_it) {
  std::string printed;
  const auto print_tasks = [&]() -> gyre::task<> {
    auto observer = gyre::spawn([&]() -> gyre::task<> {
      printed = gyre::testing::waiting_tasks(gyre::event_loop::current());
      co_return;
    });
    co_await observer;
  };
  for (const bool called : {false, true}) {
    const int line = __LINE__ + 1;
    EXPECT_EQ(called ? gyre::run_main(print_tasks()) : gyre::run_main(print_tasks), 0);
    EXPECT_NE(printed.find("main, spawned at tests/runtime/run_function_test.cpp:" + std::to_string(line)),
              std::string::npos)
        << printed;
  }
}

TEST(run, takes_a_function) { EXPECT_EQ(gyre::run(code), 3); }

// Objects that belong to the loop are destroyed before the loop ends, although the value of the task is still needed.
TEST(run, lets_go_of_the_arguments_of_a_task_with_a_value_before_the_loop_ends) {
  auto accept_one = [](gyre::tcp_listener listener, int code) -> gyre::task<int> {
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    (void)co_await listener.accept();
    co_return code;
  };
  auto main_task = [&]() -> gyre::task<int> {
    co_return co_await accept_one(gyre::tcp_listener::bind("127.0.0.1:0"), 7);
  };
  EXPECT_EQ(gyre::run(main_task), 7);
  const auto with_listener = [&](std::shared_ptr<std::optional<gyre::tcp_listener>> kept) -> gyre::task<int> {
    kept->emplace(gyre::tcp_listener::bind("127.0.0.1:0"));
    auto client = co_await gyre::tcp_stream::connect((*kept)->local_address());
    (void)co_await (*kept)->accept();
    co_return 8;
  };
  EXPECT_EQ(gyre::run(with_listener(std::make_shared<std::optional<gyre::tcp_listener>>())), 8);
  EXPECT_EQ(gyre::run_main(with_listener(std::make_shared<std::optional<gyre::tcp_listener>>())), 8);
}
