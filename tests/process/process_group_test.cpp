// tests/process/process_group_test.cpp: signals to a child and everything it has started, with and without the kernel's
// help.
#include "tests/process/family.hpp"
#include "tests/process/older_kernel.hpp"
#include "tests/support/cancels.hpp"

#include <gyre/testing/cancel_at_every_await.hpp>

#include <optional>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;

namespace {

/// A shell with a child that sleeps. The shell waits for its child, or ends before it. Both hold the pipe.
struct family {
  family_pipe pipe;
  std::optional<process> leader;
  stranger sleeper;

  explicit family(const char* then, process_options options = in_group())
      : leader(start(pipe, then, std::move(options))), sleeper(std::stoi(pipe.line())) {}

 private:
  static process start(family_pipe& pipe, const char* then, process_options options) {
    options.standard_output = pipe.writer();
    process started = process::start_shell(std::string("sleep 1000 & echo $!; ") + then, options);
    pipe.close_writer();
    return started;
  }
};

constexpr const char* waits = "wait";
constexpr const char* ends = "exit 3";

class process_group : public ::testing::TestWithParam<kernel> {
 protected:
  /// Runs a body with the kernel of the parameter, and checks that no children are left.
  template <class Body>
  void in_that_world(Body body) {
    const auto run = [&] {
      run_test(body);
      EXPECT_FALSE(has_children());
    };
    if (GetParam() == kernel::newest) return run();
    if (!forked_children_may_start_threads) GTEST_SKIP();
    expect_in_child_process([&] {
      become_old(GetParam());
      run();
    });
  }
};

}  // namespace

TEST_P(process_group, a_kill_ends_the_child_and_what_it_has_started) {
  in_that_world([]() -> gyre::task<> {
    family all(waits);
    all.leader->kill();
    const auto status = co_await all.leader->wait();
    EXPECT_EQ(status, gyre::exit_status{.signal = SIGKILL});
    EXPECT_TRUE(all.pipe.all_ended());
  });
}

TEST_P(process_group, a_signal_reaches_the_child_and_what_it_has_started) {
  in_that_world([]() -> gyre::task<> {
    family all(waits);
    all.leader->send_signal(0);
    all.leader->terminate();
    EXPECT_TRUE(all.pipe.all_ended());
    const auto status = co_await all.leader->wait();
    EXPECT_EQ(status, gyre::exit_status{.signal = SIGTERM});
  });
}

TEST_P(process_group, a_signal_reaches_the_others_after_the_child_has_ended_and_was_waited_for) {
  in_that_world([]() -> gyre::task<> {
    family all(ends);
    auto status = co_await all.leader->wait();
    EXPECT_EQ(status, gyre::exit_status{.code = 3});
    EXPECT_TRUE(all.sleeper.runs());
    all.leader->terminate();
    EXPECT_TRUE(all.pipe.all_ended());
    status = co_await all.leader->wait();
    EXPECT_EQ(status, gyre::exit_status{.code = 3});
  });
}

TEST_P(process_group, the_end_of_the_object_kills_all) {
  in_that_world([]() -> gyre::task<> {
    for (const char* then : {waits, ends}) {
      family all(then);
      all.leader.reset();
      EXPECT_TRUE(all.pipe.all_ended());
    }
    co_return;
  });
}

TEST_P(process_group, the_end_of_the_object_kills_the_others_after_the_child_was_waited_for) {
  in_that_world([]() -> gyre::task<> {
    family all(ends);
    (void)co_await all.leader->wait();
    EXPECT_TRUE(all.sleeper.runs());
    all.leader.reset();
    EXPECT_TRUE(all.pipe.all_ended());
  });
}

TEST_P(process_group, a_detached_group_runs_on) {
  in_that_world([]() -> gyre::task<> {
    for (const char* then : {waits, ends}) {
      family all(then);
      if (then == ends) (void)co_await all.leader->wait();
      all.leader->detach();
      all.leader.reset();
      EXPECT_TRUE(all.sleeper.runs());
      all.sleeper.kill();  // the waiting shell survives this, and then ends
      EXPECT_TRUE(all.pipe.all_ended());
      co_await expect_all_reaped();
    }
  });
}

TEST_P(process_group, a_cancel_and_a_time_out_of_run_process_kill_the_group) {
  in_that_world([]() -> gyre::task<> {
    for (const char* then : {"wait", "exec sleep 1000", "exit 0"}) {
      family_pipe pipe;
      process_options options = in_group();
      options.standard_error = pipe.writer();
      const strings command{"/bin/sh", "-c", std::string("sleep 1000 & echo started >&2; ") + then};
      auto running = gyre::spawn(gyre::run_process(command, options));
      co_await gyre::yield();
      EXPECT_EQ(pipe.line(), "started");
      const bool cancelled = co_await cancel_and_wait(running);
      EXPECT_TRUE(cancelled);
      EXPECT_TRUE(pipe.all_ended()) << then;
      family_pipe other;
      options.standard_error = other.writer();
      co_await expect_time_out(gyre::timeout(20ms, gyre::run_process(command, options)));
      EXPECT_TRUE(other.all_ended()) << then;
    }
  });
}

TEST_P(process_group, the_end_of_the_loop_kills_the_group) {
  family_pipe pipe;
  in_that_world([&pipe]() -> gyre::task<> {
    for (const char* then : {"wait", "exit 0"}) {
      process_options options = in_group();
      options.standard_error = pipe.writer();
      const strings command{"/bin/sh", "-c", std::string("sleep 1000 & echo started >&2; ") + then};
      gyre::spawn(gyre::run_process(command, options)).detach();
      co_await gyre::yield();
      EXPECT_EQ(pipe.line(), "started");
    }
  });
  EXPECT_TRUE(pipe.all_ended());
}

TEST_P(process_group, run_process_leaves_nobody_behind_when_the_program_has_ended) {
  in_that_world([]() -> gyre::task<> {
    family_pipe pipe;
    process_options options = in_group();
    options.standard_error = pipe.writer();
    const strings command{"/bin/sh", "-c", "sleep 1000 > /dev/null & echo said"};
    const auto result = co_await gyre::run_process(command, options);
    EXPECT_EQ(result.output, "said\n");
    EXPECT_FALSE(result.pipes_left_open);
    EXPECT_TRUE(pipe.all_ended());
  });
}

TEST_P(process_group, a_new_session_leads_a_group_too) {
  in_that_world([]() -> gyre::task<> {
    family all(ends, {.new_session = true, .process_group = true});
    EXPECT_EQ(::getsid(all.leader->id()), all.leader->id());
    (void)co_await all.leader->wait();
    all.leader->kill();
    EXPECT_TRUE(all.pipe.all_ended());
  });
}

TEST_P(process_group, a_child_of_fork_does_not_kill_the_group_of_its_parent) {
  in_that_world([]() -> gyre::task<> {
    family all(ends);
    (void)co_await all.leader->wait();
    expect_in_child_process([&] { all.leader.reset(); });
    EXPECT_TRUE(all.sleeper.runs());
  });
}

TEST(process_group_of_one, leaves_nobody_after_a_cancel_anywhere) {
  std::optional<family_pipe> pipe(std::in_place);
  const auto report = gyre::testing::cancel_at_every_await(
      [&pipe]() -> gyre::task<> {
        process_options options = in_group();
        options.standard_error = pipe->writer();
        options.pipe_limit = 1ms;
        const strings command{"/bin/sh", "-c", "sleep 1000 & cat"};
        const auto result = co_await gyre::run_process(command, options, "hello");
        EXPECT_EQ(result.output, "hello");
        EXPECT_TRUE(result.pipes_left_open);
      },
      [&pipe](bool) {
        EXPECT_TRUE(pipe->all_ended());
        EXPECT_FALSE(has_children());
        pipe.emplace();  // for the next run
      });
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}

TEST_P(process_group, a_group_of_which_nobody_is_left_gets_no_signal) {
  in_that_world([]() -> gyre::task<> {
    process child = process::start({"true"}, in_group());
    const auto status = co_await child.wait();
    EXPECT_TRUE(status.success());
    if (GetParam() != kernel::newest) co_return;  // the leader is kept, and receives it
    EXPECT_THROW(child.kill(), gyre::io_error);
  });
}

TEST(process_group_of_one, is_all_that_is_signalled_without_the_option) {
  run_test([]() -> gyre::task<> {
    family all(waits, process_options());
    EXPECT_EQ(::getpgid(all.leader->id()), ::getpgrp());
    all.leader->kill();
    (void)co_await all.leader->wait();
    EXPECT_TRUE(all.sleeper.runs());
  });
}

TEST(process_group_of_one, is_killed_although_it_went_to_another_group) {
  run_test([]() -> gyre::task<> {
    // The process moves to the group of its child, which ends with it.
    const char* const moves =
        "import os, signal\nr, w = os.pipe()\nchild = os.fork()\nif child == 0:\n"
        "  os.setpgid(0, 0)\n  os.close(w)\n  os.read(r, 1)\n  os._exit(0)\n"
        "os.setpgid(child, child)\nos.setpgid(0, child)\nos.write(1, b'moved\\n')\nsignal.pause()";
    for (const bool destroyed : {false, true}) {
      family_pipe pipe;
      process_options options = in_group();
      options.standard_output = pipe.writer();
      {
        process child = process::start({"python3", "-c", moves}, options);
        EXPECT_EQ(pipe.line(), "moved");
        if (!destroyed) {
          child.terminate();
          const auto status = co_await child.wait();
          EXPECT_EQ(status, gyre::exit_status{.signal = SIGTERM});
        }
      }
      EXPECT_TRUE(pipe.all_ended());
    }
  });
}

TEST(process_group_of_one, is_not_started_where_a_sandbox_forbids_groups) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  expect_in_child_process([] {
    deny_call(SYS_setpgid, EPERM);
    EXPECT_EQ(start_error({"true"}, in_group()), "start true: Operation not permitted");
  });
}

INSTANTIATE_TEST_SUITE_P(on, process_group,
                         ::testing::Values(kernel::newest, kernel::before_6_9, kernel::refuses_eperm,
                                           kernel::refuses_enosys),
                         [](const auto& each) { return std::string(name_of(each.param)); });
