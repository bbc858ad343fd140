// tests/process/pipe_limit_test.cpp: how long other processes may hold the pipes of a child that has ended.
#include "tests/process/family.hpp"

using namespace gyre_test;
using gyre::process;
using gyre::process_options;

TEST(process_pipe_limit, gives_a_result_with_all_that_was_said_while_others_hold_the_pipes) {
  run_test([]() -> gyre::task<> {
    for (const auto limit : {-1ms, 0ms, 20ms}) {
      process_options options = with_pipes();
      options.pipe_limit = limit;
      process child = process::start_shell("echo said; echo err >&2; sleep 1000 & echo $!; exit 3", options);
      const auto result = co_await child.communicate();
      EXPECT_TRUE(result.output.starts_with("said\n")) << result.output;
      const stranger sleeper(std::stoi(result.output.substr(5)));
      EXPECT_EQ(result.error, "err\n");
      EXPECT_EQ(result.status, gyre::exit_status{.code = 3});
      EXPECT_TRUE(result.pipes_left_open);
    }
  });
}

TEST(process_pipe_limit, gives_all_that_the_child_has_said_even_if_it_is_zero) {
  run_test([]() -> gyre::task<> {
    const process_options options{.pipe_limit = 0ns};
    for (int i = 0; i < 20; ++i) {
      const auto result = co_await shell("printf '%0200000d' 7; exit 3", options);
      EXPECT_EQ(result.output, std::string(199'999, '0') + "7");
      EXPECT_FALSE(result.pipes_left_open);
      EXPECT_EQ(result.status, gyre::exit_status{.code = 3});
    }
  });
}

TEST(process_pipe_limit, does_not_count_the_input_that_a_child_leaves_unread) {
  run_test([]() -> gyre::task<> {
    const process_options options{.pipe_limit = 0ns};
    for (int i = 0; i < 20; ++i) {
      const std::string much(1 << 20, 'x');
      const auto result = co_await shell("exit 0", options, much);
      EXPECT_FALSE(result.pipes_left_open);
    }
  });
}

TEST(process_pipe_limit, ends_the_wait_for_an_input_that_nobody_reads) {
  run_test([]() -> gyre::task<> {
    const process_options options{.process_group = true, .pipe_limit = 1ms};
    const std::string much(1 << 20, 'x');
    const auto result = co_await shell("exec 3<&0; sleep 1000 <&3 > /dev/null 2>&1 & exit 0", options, much);
    EXPECT_TRUE(result.pipes_left_open);
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process_pipe_limit, ends_the_wait_for_a_process_that_writes_for_ever) {
  run_test([]() -> gyre::task<> {
    const process_options options{.process_group = true, .pipe_limit = 1ms};
    const auto result = co_await shell("yes & exit 0", options);
    EXPECT_TRUE(result.pipes_left_open);
    for (std::size_t i = 0; i < result.output.size(); ++i) EXPECT_EQ(result.output[i], i % 2 == 0 ? 'y' : '\n');
  });
}

TEST(process_pipe_limit, lets_a_later_call_give_what_has_come_since) {
  run_test([]() -> gyre::task<> {
    process_options options = with_pipes();
    options.process_group = true;
    options.pipe_limit = 1ms;
    family_pipe told;
    options.standard_error = told.writer();
    const char* const says = "exec 3<&0; (read word <&3; echo two; echo told >&2; exec sleep 1000) & exit 3";
    process child = process::start_shell(says, options);
    const auto first = co_await child.communicate();
    EXPECT_TRUE(first.pipes_left_open);
    EXPECT_EQ(told.line(), "told") << "its input was closed";
    const auto second = co_await child.communicate();
    EXPECT_EQ(first.output + second.output, "two\n");
    EXPECT_EQ(second.status, gyre::exit_status{.code = 3});
    EXPECT_TRUE(second.pipes_left_open);
  });
}

TEST(process_pipe_limit, does_not_hide_an_output_that_is_too_long) {
  run_test([]() -> gyre::task<> {
    process_options options = with_pipes();
    options.pipe_limit = 0ns;
    process child = process::start_shell("printf '%050000d' 7", options);
    (void)co_await child.wait();
    co_await expect_error(child.communicate("", 40'000), "communicate standard output of /bin/sh: File too large");
  });
}
