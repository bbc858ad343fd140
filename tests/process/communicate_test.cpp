// tests/process/communicate_test.cpp: repeated conversations, and objects that are destroyed while a task waits.
#include "tests/process/children.hpp"

#include <optional>

using namespace gyre_test;
using gyre::process;

TEST(process_communicate, gives_the_status_and_nothing_more_the_second_time) {
  run_test([]() -> gyre::task<> {
    process child = process::start_shell("cat; exit 3", with_pipes());
    const auto first = co_await child.communicate("text");
    EXPECT_EQ(first.output, "text");
    const auto second = co_await child.communicate();
    EXPECT_EQ(second.output, "");
    EXPECT_EQ(second.status, first.status);
    EXPECT_FALSE(second.pipes_left_open);
    co_await expect_error(
        child.communicate("text"),
        "communicate standard input of /bin/sh, which is not a pipe or was closed: Bad file descriptor");
  });
}

TEST(process_communicate, leaves_streams_alone_that_the_program_has_closed) {
  run_test([]() -> gyre::task<> {
    process child = process::start_shell("echo err >&2; exit 3", with_pipes());
    co_await child.output().close();
    co_await child.input().close();
    const auto result = co_await child.communicate();
    EXPECT_EQ(result.error, "err\n");
    EXPECT_EQ(result.status, gyre::exit_status{.code = 3});
  });
}

TEST(process_communicate, goes_on_while_its_object_is_moved) {
  run_test([]() -> gyre::task<> {
    std::optional<process> child(process::start_shell("cat; exit 3", with_pipes()));
    auto early = child->wait();
    auto talking = gyre::spawn(child->communicate("text"));
    process moved = std::move(*child);
    co_await gyre::yield();
    process again = std::move(moved);
    child.reset();
    const auto result = co_await talking;
    EXPECT_EQ(result.output, "text");
    const auto status = co_await std::move(early);
    EXPECT_EQ(status, gyre::exit_status{.code = 3});
  });
}

TEST(process_communicate, hears_of_the_kill_when_its_object_is_destroyed) {
  run_test([]() -> gyre::task<> {
    std::optional<process> child(process::start_shell("cat", with_pipes()));
    std::optional<process> sleeper(process::start({"sleep", "1000"}, with_pipes()));
    auto talking = gyre::spawn(sleeper->communicate());
    auto waiting = gyre::spawn(child->wait());
    auto late = child->wait();
    co_await gyre::yield();
    sleeper.reset();
    child.reset();
    const auto result = co_await talking;
    EXPECT_EQ(result.status, gyre::exit_status{.signal = SIGKILL});
    const auto status = co_await waiting;
    EXPECT_EQ(status, gyre::exit_status{.signal = SIGKILL});
    const auto same = co_await std::move(late);
    EXPECT_EQ(same, status);
    co_await expect_all_reaped();
  });
  EXPECT_FALSE(has_children());
}

TEST(process_wait, that_is_cancelled_after_the_object_is_gone_leaves_no_child) {
  run_test([]() -> gyre::task<> {
    std::optional<process> child(start_sleeping());
    auto waiting = gyre::spawn(child->wait());
    co_await gyre::yield();
    child.reset();
    waiting.cancel();
    (void)co_await error_of(std::move(waiting));
    co_await expect_all_reaped();
  });
}
