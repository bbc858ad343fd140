// tests/process/time_limit_test.cpp: how long a child may run, and what is known of it after that.
#include "tests/process/family.hpp"

#include <optional>
#include <system_error>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;

namespace {

/// Returns the error of a conversation, which must exceed its time limit.
gyre::task<std::optional<gyre::process_timed_out>> time_out_of(gyre::task<gyre::process_result> conversation) {
  try {
    (void)co_await std::move(conversation);
    ADD_FAILURE() << "it ended in time";
  } catch (const gyre::process_timed_out& late) {
    co_return late;
  }
  co_return std::nullopt;
}

}  // namespace

TEST(process_time_limit, kills_a_program_that_runs_longer_and_says_so_in_the_error) {
  run_test([]() -> gyre::task<> {
    const process_options options{.time_limit = 20ms};
    const strings arguments{"sleep", "1000"};
    try {
      (void)co_await gyre::run_process(arguments, options);
      ADD_FAILURE() << "it ended in time";
    } catch (const gyre::timed_out& late) {
      EXPECT_STREQ(late.what(), "communicate sleep: timed out after 20 ms");
      EXPECT_EQ(late.code(), std::errc::timed_out);
      EXPECT_EQ(late.limit(), 20ms);
      const auto* const carried = dynamic_cast<const gyre::process_timed_out*>(&late);
      if (carried == nullptr) throw;
      EXPECT_EQ(carried->result().status, gyre::exit_status{.signal = SIGKILL});
      EXPECT_FALSE(carried->result().pipes_left_open);
    }
    EXPECT_FALSE(has_children()) << "it was awaited";
  });
}

TEST(process_time_limit, is_no_error_of_a_program_that_ends_in_time) {
  run_test([]() -> gyre::task<> {
    const process_options options{.time_limit = 1h, .pipe_limit = 1h};
    const auto result = co_await shell("cat; echo err >&2; exit 3", options, "in");
    EXPECT_EQ(result.status, gyre::exit_status{.code = 3});
    EXPECT_EQ(result.output, "in");
    EXPECT_EQ(result.error, "err\n");
    EXPECT_FALSE(result.pipes_left_open);
  });
}

TEST(process_time_limit, is_an_error_with_all_that_the_program_had_said) {
  run_test([]() -> gyre::task<> {
    for (const auto limit : {0ns, 1ns, 1'000'000ns}) {
      process_options options = with_pipes();
      options.time_limit = limit;
      family_pipe told;
      options.standard_error = told.writer();
      // The pipe holds 60000 bytes when the time limit begins to count.
      process child = process::start_shell("printf '%060000d' 7; echo told >&2; exec sleep 1000", options);
      EXPECT_EQ(told.line(), "told");
      const auto late = co_await time_out_of(child.communicate());
      if (!late) co_return;
      EXPECT_EQ(late->result().output, std::string(59'999, '0') + "7");
      EXPECT_EQ(late->result().status.signal, SIGKILL);
      EXPECT_TRUE(told.all_ended());
    }
  });
}

TEST(process_time_limit, gives_its_result_to_copies_of_the_error) {
  const gyre::process_result result{
      .status = {.signal = SIGKILL}, .output = "out", .error = "err", .pipes_left_open = true};
  std::optional<gyre::process_timed_out> first(std::in_place, 2s, "communicate x", result);
  static_assert(std::is_nothrow_copy_constructible_v<gyre::process_timed_out>);
  gyre::process_timed_out copy = *first;
  const gyre::process_timed_out other(1s, "communicate y", gyre::process_result());
  first = other;
  EXPECT_EQ(first->result().output, "");
  EXPECT_STREQ(first->what(), "communicate y: timed out after 1 s");
  first.reset();
  EXPECT_EQ(copy.result().output, "out");
  EXPECT_EQ(copy.result().error, "err");
  EXPECT_TRUE(copy.result().pipes_left_open);
  const gyre::process_timed_out& itself = copy;
  copy = itself;
  EXPECT_EQ(copy.result().output, "out");
}

TEST(process_time_limit, is_an_error_value_of_as_expected) {
  run_test([]() -> gyre::task<> {
    const process_options options{.time_limit = 1ms};
    const strings arguments{"sleep", "1000"};
    auto running = gyre::run_process(arguments, options);
    const auto outcome = co_await gyre::as_expected(std::move(running));
    EXPECT_FALSE(outcome);
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
  });
  EXPECT_FALSE(has_children());
}

TEST(process_time_limit, that_is_negative_has_passed_at_once) {
  run_test([]() -> gyre::task<> {
    const process_options options{.time_limit = -5s, .pipe_limit = std::chrono::nanoseconds::min()};
    const auto late = co_await time_out_of(shell("exec sleep 1000", options));
    if (late) EXPECT_STREQ(late->what(), "communicate /bin/sh: timed out after 0 s");
  });
}

TEST(process_time_limit, kills_the_whole_group) {
  run_test([]() -> gyre::task<> {
    process_options options = in_group();
    options.time_limit = 20ms;
    family_pipe pipe;
    options.standard_error = pipe.writer();
    const auto late = co_await time_out_of(shell("sleep 1000 & sleep 1000 & wait", options));
    EXPECT_TRUE(late);
    EXPECT_TRUE(pipe.all_ended());
  });
}

TEST(process_time_limit, ends_the_wait_for_pipes_that_others_hold_open) {
  run_test([]() -> gyre::task<> {
    for (const bool ends : {false, true}) {
      process_options options = with_pipes();
      options.time_limit = 50ms;
      family_pipe told;
      options.standard_error = told.writer();
      const std::string then = ends ? "exit 3" : "exec sleep 1000";
      process child = process::start_shell("sleep 1000 & echo $!; echo told >&2; " + then, options);
      EXPECT_EQ(told.line(), "told");
      const auto late = co_await time_out_of(child.communicate());
      if (!late) co_return;
      const gyre::process_result& result = late->result();
      const stranger sleeper(std::stoi(result.output));
      EXPECT_TRUE(result.pipes_left_open);
      EXPECT_EQ(result.status, ends ? gyre::exit_status{.code = 3} : gyre::exit_status{.signal = SIGKILL});
    }
  });
}

TEST(process_time_limit, is_followed_by_a_wait_for_the_pipes_where_pipe_limit_says_so) {
  run_test([]() -> gyre::task<> {
    process_options options = with_pipes();
    options.time_limit = 20ms;
    options.pipe_limit = 1min;
    family_pipe told;
    options.standard_error = told.writer();
    // The background shell writes again after the main process is gone.
    const char* const says =
        "(echo told >&2; while kill -0 $$ 2> /dev/null; do sleep 0.01; done; echo late) & exec sleep 1000";
    process child = process::start_shell(says, options);
    EXPECT_EQ(told.line(), "told");
    const auto late = co_await time_out_of(child.communicate());
    if (!late) co_return;
    EXPECT_EQ(late->result().output, "late\n");
    EXPECT_FALSE(late->result().pipes_left_open);
  });
}

TEST(process_time_limit, leaves_no_child_after_a_cancel_anywhere) {
  expect_no_child_after_any_cancel([]() -> gyre::task<> {
    const process_options options{.process_group = true, .time_limit = 1ms, .pipe_limit = 1ms};
    const auto late = co_await time_out_of(shell("sleep 1000", options, "hello"));
    EXPECT_TRUE(late);
  });
}

TEST(process_time_limit, ends_the_wait_for_a_child_that_may_not_be_killed) {
  expect_in_child_process([] {
    deny_call(SYS_pidfd_send_signal, EPERM);
    run_test([]() -> gyre::task<> {
      process_options options = with_pipes();
      options.time_limit = 1ms;
      process child = process::start({"sleep", "1000"}, options);
      const int id = child.id();
      const auto late = co_await time_out_of(child.communicate());
      ::kill(id, SIGKILL);
      (void)co_await child.wait();
      if (!late) co_return;
      EXPECT_TRUE(late->result().status.unknown);
      EXPECT_TRUE(late->result().pipes_left_open);
    });
  });
}
