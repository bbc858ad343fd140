// tests/process/process_end_test.cpp: how children end: signals, cancels, detached ones.
#include "tests/process/children.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;
using gyre::redirect;

TEST(process, is_ended_by_a_signal_which_is_told) {
  run_test([]() -> gyre::task<> {
    process child = start_sleeping();
    child.terminate();
    const auto status = co_await child.wait();
    EXPECT_EQ(status.signal, SIGTERM);
    EXPECT_EQ(status.string(), "signal 15 (Terminated)");
    const auto again = co_await child.wait();
    EXPECT_EQ(again, status);
    EXPECT_THROW(child.kill(), gyre::io_error);
  });
  EXPECT_FALSE(has_children());
}

TEST(process, gets_signals_that_this_program_ignores) {
  run_test([]() -> gyre::task<> {
    const with_action ignored(SIGPIPE, SIG_IGN);
    process child = process::start({"yes"}, {.standard_output = redirect::pipe()});
    co_await child.output().close();
    const auto status = co_await child.wait();
    EXPECT_EQ(status.signal, SIGPIPE);
  });
}

TEST(process, may_be_waited_for_by_several_tasks) {
  run_test([]() -> gyre::task<> {
    process child = start_sleeping();
    auto a = gyre::spawn(child.wait());
    auto b = gyre::spawn(child.wait());
    co_await settle();
    child.kill();
    const auto first = co_await a;
    const auto second = co_await b;
    EXPECT_EQ(first.signal, SIGKILL);
    EXPECT_EQ(second, first);
  });
}

TEST(process, runs_on_after_a_time_out_of_the_wait) {
  run_test([]() -> gyre::task<> {
    process child = start_sleeping();
    co_await expect_time_out(gyre::timeout(5ms, child.wait()));
    EXPECT_EQ(::kill(child.id(), 0), 0);
    child.kill();
    (void)co_await child.wait();
  });
}

TEST(process, is_killed_by_the_end_of_the_scope) {
  int id = 0;
  run_test([&]() -> gyre::task<> {
    const process child = start_sleeping();
    id = child.id();
    EXPECT_EQ(::kill(id, 0), 0);
    co_return;
  });
  EXPECT_EQ(::kill(id, 0), -1) << "it is there after its loop has ended";
  EXPECT_FALSE(has_children());
}

TEST(process, is_killed_by_a_cancel_of_run_process) {
  run_test([]() -> gyre::task<> {
    const strings arguments{"sleep", "1000"};
    co_await expect_time_out(gyre::timeout(20ms, gyre::run_process(arguments)));
  });
  EXPECT_FALSE(has_children());
}

TEST(process, runs_on_when_it_is_detached) {
  run_test([]() -> gyre::task<> {
    process child = start_sleeping();
    const int id = child.id();
    child.detach();
    EXPECT_EQ(::kill(id, SIGKILL), 0);
    EXPECT_EQ(::waitpid(id, nullptr, 0), id) << "somebody else has reaped it";
    co_return;
  });
}

TEST(process, leaves_no_child_and_no_descriptor_after_a_cancel_anywhere) {
  expect_no_child_after_any_cancel([]() -> gyre::task<> {
    const strings arguments{"cat"};
    const auto result = co_await gyre::run_process(arguments, process_options(), "hello");
    EXPECT_EQ(result.output, "hello");
  });
}
