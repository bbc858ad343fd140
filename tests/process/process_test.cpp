// tests/process/process_test.cpp: starting children, their streams, their end, and the end of the parent.
#include <gyre/process.hpp>

#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/process/family.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;
using gyre::redirect;

namespace {

/// Expects that no child runs, and that none waits to be reaped.
void expect_no_children() {
  for (int i = 0; i < 1000; ++i) {
    if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
    ::usleep(1000);
  }
  ADD_FAILURE() << "a child is left";
}

std::string error_of_start(const strings& arguments, const process_options& options = {}) {
  try {
    (void)process::start(arguments, options);
    return "";
  } catch (const gyre::io_error& error) {
    return error.what();
  }
}

}  // namespace

TEST(process, what_a_program_says_and_returns_comes_back) {
  run_test([]() -> gyre::task<> {
    const auto result = co_await shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.error, "err\n");
    EXPECT_EQ(result.status.code, 3);
    EXPECT_FALSE(result.status.success());
    EXPECT_EQ(result.status.string(), "exit code 3");
  });
  expect_no_children();
}

TEST(process, arguments_arrive_as_they_are) {
  run_test([]() -> gyre::task<> {
    const strings arguments{"printf", "%s|", "a b", "", "*", "\"q\""};
    const auto result = co_await gyre::run_process(arguments);
    EXPECT_EQ(result.output, "a b||*|\"q\"|");
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process, input_is_fed_and_output_read_at_the_same_time) {
  run_test([]() -> gyre::task<> {
    std::string much;
    for (int i = 0; i < 200'000; ++i) much += std::to_string(i) + "\n";
    const strings arguments{"cat"};
    const auto result = co_await gyre::run_process(arguments, process_options(), much);
    EXPECT_EQ(result.output.size(), much.size());
    EXPECT_EQ(result.output, much);
  });
}

TEST(process, a_child_that_does_not_read_its_input_is_no_error) {
  run_test([]() -> gyre::task<> {
    const std::string much(1 << 20, 'x');
    const auto result = co_await shell("exit 0", process_options(), much);
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process, a_program_that_does_not_exist_is_named) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(error_of_start({"/bin/no such"}), "start /bin/no such: No such file or directory");
    process_options options;
    options.directory = "/no/such";
    EXPECT_EQ(error_of_start({"true"}, options), "start true in /no/such: No such file or directory");
    EXPECT_EQ(error_of_start({}), "start nothing: Invalid argument");
    EXPECT_EQ(error_of_start({"echo", std::string("a\0b", 3)}), "start echo: Invalid argument");
    co_return;
  });
  expect_no_children();
}

TEST(process, it_starts_in_the_directory_and_with_the_environment_that_it_is_given) {
  run_test([]() -> gyre::task<> {
    process_options options;
    options.directory = "/";
    options.environment = gyre::environment_with({"GYRE_TEST_WORD=hello"});
    auto result = co_await shell("pwd; echo $GYRE_TEST_WORD; test -n \"$PATH\" && echo path", options);
    EXPECT_EQ(result.output, "/\nhello\npath\n");
    options.environment = strings{"ONLY=this"};
    const strings arguments{"/usr/bin/env"};
    result = co_await gyre::run_process(arguments, options);
    EXPECT_EQ(result.output, "ONLY=this\n");
  });
}

TEST(process, an_environment_with_additions_replaces_what_has_the_same_name) {
  ::setenv("GYRE_TEST_OLD", "old", 1);
  const strings all = gyre::environment_with({"GYRE_TEST_OLD=new"});
  EXPECT_EQ(std::count(all.begin(), all.end(), "GYRE_TEST_OLD=new"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "GYRE_TEST_OLD=old"), 0);
  ::unsetenv("GYRE_TEST_OLD");
}

TEST(process, the_error_stream_can_go_where_the_output_goes) {
  run_test([]() -> gyre::task<> {
    process_options options;
    options.standard_error = redirect::to_output();
    const auto result = co_await shell("echo a; echo b >&2; echo c", options);
    EXPECT_EQ(result.output, "a\nb\nc\n");
    EXPECT_EQ(result.error, "");
  });
}

TEST(process, streams_go_to_null_and_to_files) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    process_options options;
    {
      auto file = co_await gyre::fs::file::open(dir.path("log"), gyre::fs::for_writing);
      options.standard_input = redirect::null();
      options.standard_output = redirect::descriptor(file.native_descriptor());
      options.standard_error = redirect::null();
      process child = process::start({"/bin/sh", "-c", "cat; echo said; echo lost >&2"}, options);
      const auto status = co_await child.wait();
      EXPECT_TRUE(status.success());
    }
    EXPECT_EQ(dir.get("log"), "said\n");
  });
}

TEST(process, two_children_are_joined_by_a_pipe) {
  run_test([]() -> gyre::task<> {
    gyre::pipe_descriptors between = gyre::open_pipe();
    process_options first;
    first.standard_output = redirect::descriptor(between.writer.get());
    process_options second;
    second.standard_input = redirect::descriptor(between.reader.get());
    second.standard_output = redirect::pipe();
    process a = process::start_shell("echo b; echo a", first);
    process b = process::start({"sort"}, second);
    between.writer.close();
    between.reader.close();
    const auto result = co_await b.communicate();
    EXPECT_EQ(result.output, "a\nb\n");
    const auto status = co_await a.wait();
    EXPECT_TRUE(status.success());
  });
}

TEST(process, a_child_that_reads_from_a_socket_of_this_program_waits_for_input) {
  run_test([]() -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    auto child = process::start({"cat"}, {.standard_input = redirect::descriptor(pair.second.native_descriptor()),
                                          .standard_output = redirect::pipe(),
                                          .standard_error = redirect::to_output()});
    auto output = gyre::spawn([&]() -> gyre::task<gyre::process_result> { co_return co_await child.communicate(); });
    co_await gyre::sleep(20ms);  // the child reads before there is anything
    co_await pair.first.write_all("hello");
    co_await pair.first.shutdown_write();
    const auto result = co_await output;
    EXPECT_EQ(result.output, "hello");
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process, a_socket_that_a_child_shares_does_not_make_this_program_wait) {
  run_test([]() -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    auto child = process::start({"true"}, {.standard_input = redirect::descriptor(pair.second.native_descriptor())});
    co_await child.wait();
    std::array<std::byte, 1> buffer;
    const auto nothing = co_await gyre::as_expected(gyre::timeout(5ms, pair.second.read_some(buffer)));
    EXPECT_EQ(nothing.error(), std::errc::timed_out);
    const std::string large(10'000'000, 'x');
    const auto stuck = co_await gyre::as_expected(gyre::timeout(5ms, pair.second.write_all(large)));
    EXPECT_FALSE(stuck);
  });
}

TEST(process, a_child_that_reads_the_output_of_another_one_waits_for_it) {
  run_test([]() -> gyre::task<> {
    auto first = process::start({"sh", "-c", "sleep 0.05; echo from the first"}, {.standard_output = redirect::pipe()});
    auto second = process::start({"cat"}, {.standard_input = redirect::descriptor(first.output().native_descriptor()),
                                           .standard_output = redirect::pipe(),
                                           .standard_error = redirect::to_output()});
    const auto result = co_await second.communicate();
    EXPECT_EQ(result.output, "from the first\n");
    EXPECT_TRUE(result.status.success());
    co_await first.wait();
  });
}

TEST(process, other_descriptors_are_not_handed_down) {
  run_test([]() -> gyre::task<> {
    const int leaky = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
    const auto result = co_await shell("ls /proc/self/fd | wc -l");
    ::close(leaky);
    EXPECT_EQ(result.output, "4\n");  // the standard streams, and the directory that ls reads
  });
}

TEST(process, a_signal_ends_it_and_is_told) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"sleep", "1000"});
    child.terminate();
    const auto status = co_await child.wait();
    EXPECT_EQ(status.signal, SIGTERM);
    EXPECT_EQ(status.string(), "signal 15 (Terminated)");
    const auto again = co_await child.wait();
    EXPECT_EQ(again, status);
    EXPECT_THROW(child.kill(), gyre::io_error);
  });
  expect_no_children();
}

TEST(process, signals_that_this_program_ignores_or_blocks_reach_the_child) {
  run_test([]() -> gyre::task<> {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    process_options options;
    options.standard_output = redirect::pipe();
    process child = process::start({"yes"}, options);
    co_await child.output().close();
    const auto status = co_await child.wait();
    std::signal(SIGPIPE, before);
    EXPECT_EQ(status.signal, SIGPIPE);
  });
}

TEST(process, several_tasks_wait_for_one_end) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"sleep", "1000"});
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

TEST(process, a_time_out_of_the_wait_leaves_it_running) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"sleep", "1000"});
    const std::string late = co_await error_of(gyre::timeout(5ms, child.wait()));
    EXPECT_NE(late, "");
    EXPECT_EQ(::kill(child.id(), 0), 0);
    child.kill();
    (void)co_await child.wait();
  });
}

TEST(process, the_end_of_the_scope_kills_it) {
  int id = 0;
  run_test([&]() -> gyre::task<> {
    const process child = process::start({"sleep", "1000"});
    id = child.id();
    EXPECT_EQ(::kill(id, 0), 0);
    co_return;
  });
  EXPECT_EQ(::kill(id, 0), -1) << "it is there after its loop has ended";
  expect_no_children();
}

TEST(process, a_cancel_of_run_process_kills_the_program) {
  run_test([]() -> gyre::task<> {
    const strings arguments{"sleep", "1000"};
    const std::string late = co_await error_of(gyre::timeout(20ms, gyre::run_process(arguments)));
    EXPECT_NE(late, "");
  });
  expect_no_children();
}

TEST(process, one_that_is_detached_runs_on) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"sleep", "1000"});
    const int id = child.id();
    child.detach();
    EXPECT_EQ(::kill(id, SIGKILL), 0);
    EXPECT_EQ(::waitpid(id, nullptr, 0), id) << "somebody else has reaped it";
    co_return;
  });
}

TEST(process, more_output_than_the_limit_is_an_error) {
  run_test([]() -> gyre::task<> {
    process_options options;
    options.standard_output = redirect::pipe();
    process child = process::start({"yes"}, options);
    const std::string text = co_await error_of(child.communicate("", 100'000));
    EXPECT_EQ(text, "communicate standard output of yes: File too large");
  });
  expect_no_children();
}

TEST(process, a_conversation_line_by_line) {
  run_test([]() -> gyre::task<> {
    process_options options;
    options.standard_input = redirect::pipe();
    options.standard_output = redirect::pipe();
    process child = process::start({"cat"}, options);
    for (const std::string word : {"one\n", "two\n"}) {
      co_await child.input().write_all(word);
      std::string heard(word.size(), ' ');
      co_await child.output().read_exactly(std::span<char>(heard));
      EXPECT_EQ(heard, word);
    }
    co_await child.input().close();
    const auto status = co_await child.wait();
    EXPECT_TRUE(status.success());
  });
}

TEST(process, many_children_run_at_once) {
  run_test([]() -> gyre::task<> {
    std::vector<gyre::task<gyre::process_result>> all;
    for (int i = 0; i < 30; ++i) all.push_back(shell("cat; echo " + std::to_string(i), process_options(), "in "));
    const auto results = co_await gyre::gather(std::move(all));
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].output, "in " + std::to_string(i) + "\n");
  });
  expect_no_children();
}

TEST(process, a_cancel_anywhere_leaves_no_child_and_no_descriptor) {
  const auto report = gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        const strings arguments{"cat"};
        const auto result = co_await gyre::run_process(arguments, process_options(), "hello");
        EXPECT_EQ(result.output, "hello");
      },
      [](bool) { expect_no_children(); });
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
