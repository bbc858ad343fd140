// tests/process/reaping_test.cpp: which code reaps a child, and what is known of a child that other code has reaped.
#include "tests/process/children.hpp"

using namespace gyre_test;
using gyre::process;
using gyre::process_options;
using gyre::redirect;

namespace {

/// Other code has taken the status. It is known only if the kernel has kept it.
void expect_code_or_unknown(const gyre::exit_status& status, int code) {
  if (status.unknown)
    EXPECT_EQ(status.string(), "status unknown");
  else
    EXPECT_EQ(status, gyre::exit_status{.code = code});
}

process start_without_a_loop() {
  return gyre::run([]() -> gyre::task<process> { co_return start_sleeping(); });
}

}  // namespace

TEST(process_reaping, children_start_and_end_where_sigchld_is_ignored) {
  const with_action ignored(SIGCHLD, SIG_IGN);
  run_test([]() -> gyre::task<> {
    for (int i = 0; i < 200; ++i) {
      process child = process::start({"true"});
      const auto status = co_await child.wait();
      expect_code_or_unknown(status, 0);
    }
    process child = process::start_shell("exit 7");
    const auto status = co_await child.wait();
    expect_code_or_unknown(status, 7);
    EXPECT_FALSE(status.success());
    EXPECT_NE(start_error({"/no/such"}), "");
  });
}

TEST(process_reaping, a_running_child_is_killed_and_waited_for_where_sigchld_is_ignored) {
  const with_action ignored(SIGCHLD, SIG_IGN);
  run_test([]() -> gyre::task<> {
    process child = start_sleeping();
    auto waiting = gyre::spawn(child.wait());
    co_await settle();
    child.kill();
    const auto status = co_await waiting;
    EXPECT_TRUE(status.unknown || status.signal == SIGKILL) << status.string();
    const process destroyed = start_sleeping();
  });
  EXPECT_FALSE(has_children());
}

TEST(process_reaping, the_status_of_a_child_that_other_code_has_reaped_is_known_or_said_to_be_unknown) {
  run_test([]() -> gyre::task<> {
    process returned = start_stolen("exit 3");
    auto status = co_await returned.wait();
    expect_code_or_unknown(status, 3);
    EXPECT_FALSE(status.success());
    process killed = start_stolen("kill -9 $$");
    status = co_await killed.wait();
    EXPECT_TRUE(status.unknown || status == gyre::exit_status{.signal = SIGKILL}) << status.string();
  });
}

TEST(process_reaping, a_status_that_nobody_has_kept_is_unknown_and_no_success) {
  const auto outcome = in_child_process([] {
    deny_call(SYS_ioctl, ENOTTY);  // PIDFD_GET_INFO, as before Linux 6.15
    return gyre::run([]() -> gyre::task<std::string> {
      process child = start_stolen("exit 0");
      const auto status = co_await child.wait();
      const auto again = co_await child.wait();
      co_return status.success() || again != status ? "failed" : status.string();
    });
  });
  EXPECT_EQ(outcome.text, "status unknown");
}

TEST(process_reaping, a_child_that_other_code_has_reaped_gets_no_signal) {
  run_test([]() -> gyre::task<> {
    process child = start_stolen("exit 0");
    EXPECT_EQ(kill_error(child), "send_signal " + std::to_string(child.id()) + ": No such process");
    co_return;
  });
}

TEST(process_reaping, detached_children_that_have_ended_are_reaped) {
  run_test([]() -> gyre::task<> {
    for (int i = 0; i < 20; ++i) process::start({"true"}).detach();
    process late = process::start({"cat"}, {.standard_input = redirect::pipe()});  // runs until its input is closed
    late.detach();
    co_await expect_all_reaped();
  });
}

TEST(process_reaping, a_task_that_waits_for_a_child_when_it_is_detached_hears_of_its_end) {
  run_test([]() -> gyre::task<> {
    // It runs until its input is closed.
    process child = process::start_shell("cat; exit 5", {.standard_input = redirect::pipe()});
    auto first = gyre::spawn(child.wait());
    auto second = gyre::spawn(child.wait());
    co_await gyre::yield();
    child.detach();
    const auto status = co_await first;
    EXPECT_EQ(status, gyre::exit_status{.code = 5});
    const auto again = co_await second;
    EXPECT_EQ(again, status);
    process::start({"true"}).detach();
    co_await expect_all_reaped();
  });
}

TEST(process_reaping, a_detached_child_outlives_its_loop_and_is_reaped_by_the_next_start) {
  int id = 0;
  run_test([&]() -> gyre::task<> {
    process child = start_sleeping();
    id = child.id();
    child.detach();
    co_return;
  });
  EXPECT_EQ(::kill(id, 0), 0);
  EXPECT_TRUE(has_children());
  ::kill(id, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOWAIT);
  run_test([]() -> gyre::task<> {
    process next = process::start({"true"});
    (void)co_await next.wait();
  });
  EXPECT_FALSE(has_children());
}

TEST(process_reaping, a_child_that_is_detached_while_its_loop_ends_runs_on) {
  int id = 0;
  run_test([&]() -> gyre::task<> {
    gyre::spawn([&]() -> gyre::task<> {
      process child = start_sleeping();
      id = child.id();
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        child.detach();
        throw;
      }
    }).detach();
    co_await settle();
  });
  EXPECT_EQ(::kill(id, SIGKILL), 0);
  EXPECT_EQ(::waitpid(id, nullptr, 0), id);
}

TEST(process_reaping, a_child_without_a_loop_is_killed_and_reaped) {
  int id = 0;
  {
    const process child = start_without_a_loop();
    id = child.id();
    EXPECT_EQ(::kill(id, 0), 0);
  }
  EXPECT_EQ(::kill(id, 0), -1);
  EXPECT_FALSE(has_children());
}

TEST(process_reaping, a_child_without_a_loop_can_be_detached) {
  process child = start_without_a_loop();
  const int id = child.id();
  child.detach();
  EXPECT_EQ(::kill(id, SIGKILL), 0);
  EXPECT_EQ(::waitpid(id, nullptr, 0), id);
}

// As for a child that runs as another user.
TEST(process_reaping, the_loop_does_not_wait_for_a_child_that_may_not_be_killed) {
  expect_in_child_process([] {
    deny_call(SYS_pidfd_send_signal, EPERM);
    int id = 0;
    gyre::run([&]() -> gyre::task<> {
      process child = start_sleeping();
      id = child.id();
      EXPECT_EQ(kill_error(child), "send_signal " + std::to_string(id) + ": Operation not permitted");
      co_return;
    });
    EXPECT_EQ(::kill(id, SIGKILL), 0);
    EXPECT_EQ(::waitpid(id, nullptr, 0), id);
  });
}

TEST(process_reaping, a_child_of_fork_does_not_kill_the_children_of_its_parent) {
  process sleeping = start_without_a_loop();
  expect_in_child_process([&] { const process destroyed = std::move(sleeping); });
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(sleeping.id()), &info, WEXITED | WNOHANG | WNOWAIT), 0);
  EXPECT_EQ(info.si_pid, 0) << "it was killed";
}

TEST(process_reaping, a_child_of_fork_cannot_wait_for_the_children_of_its_parent) {
  process sleeping = start_without_a_loop();
  const auto outcome = in_child_process([&] { return gyre::run(error_of(sleeping.wait())); });
  EXPECT_EQ(outcome.text, "wait " + std::to_string(sleeping.id()) + ": No child processes");
}

TEST(process_reaping, a_cancel_of_a_wait_anywhere_leaves_no_child_and_no_descriptor) {
  expect_no_child_after_any_cancel([]() -> gyre::task<> {
    process ends = process::start({"true"});
    (void)co_await ends.wait();
    process runs = start_sleeping();
    co_await expect_time_out(gyre::timeout(5ms, runs.wait()));
  });
}
