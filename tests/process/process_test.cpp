// tests/process/process_test.cpp: starting children, their streams, their end, and the end of the parent.
#include "tests/process/children.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

using namespace gyre_test;
using gyre::process;
using gyre::process_options;
using gyre::redirect;

namespace {

/// Pipes for the input and the output of a conversation.
process_options for_a_conversation() {
  return {.standard_input = redirect::pipe(), .standard_output = redirect::pipe()};
}

}  // namespace

TEST(process, gives_back_what_a_program_says_and_returns) {
  run_test([]() -> gyre::task<> {
    const auto result = co_await shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.error, "err\n");
    EXPECT_EQ(result.status.code, 3);
    EXPECT_FALSE(result.status.success());
    EXPECT_EQ(result.status.string(), "exit code 3");
  });
  EXPECT_FALSE(has_children());
}

TEST(process, hands_arguments_over_as_they_are) {
  run_test([]() -> gyre::task<> {
    const strings arguments{"printf", "%s|", "a b", "", "*", "\"q\""};
    const auto result = co_await gyre::run_process(arguments);
    EXPECT_EQ(result.output, "a b||*|\"q\"|");
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process, is_fed_its_input_while_its_output_is_read) {
  run_test([]() -> gyre::task<> {
    std::string much;
    for (int i = 0; i < 200'000; ++i) much += std::to_string(i) + "\n";
    const strings arguments{"cat"};
    const auto result = co_await gyre::run_process(arguments, process_options(), much);
    EXPECT_EQ(result.output.size(), much.size());
    EXPECT_EQ(result.output, much);
  });
}

TEST(process, may_leave_its_input_unread) {
  run_test([]() -> gyre::task<> {
    const std::string much(1 << 20, 'x');
    const auto result = co_await shell("exit 0", process_options(), much);
    EXPECT_TRUE(result.status.success());
  });
}

TEST(process, names_a_program_that_does_not_exist) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(start_error({"/bin/no such"}), "start /bin/no such: No such file or directory");
    EXPECT_EQ(start_error({"true"}, {.directory = "/no/such"}), "start true in /no/such: No such file or directory");
    EXPECT_EQ(start_error({}), "start nothing: Invalid argument");
    EXPECT_EQ(start_error({"echo", std::string("a\0b", 3)}), "start echo: Invalid argument");
    co_return;
  });
  EXPECT_FALSE(has_children());
}

TEST(process, starts_in_the_directory_and_with_the_environment_that_it_is_given) {
  run_test([]() -> gyre::task<> {
    process_options options{.directory = "/", .environment = gyre::environment_with({"GYRE_TEST_WORD=hello"})};
    auto result = co_await shell("pwd; echo $GYRE_TEST_WORD; test -n \"$PATH\" && echo path", options);
    EXPECT_EQ(result.output, "/\nhello\npath\n");
    options.environment = strings{"ONLY=this"};
    const strings arguments{"/usr/bin/env"};
    result = co_await gyre::run_process(arguments, options);
    EXPECT_EQ(result.output, "ONLY=this\n");
  });
}

TEST(process, replaces_variables_of_the_same_name_in_an_environment_with_additions) {
  ::setenv("GYRE_TEST_OLD", "old", 1);
  const strings all = gyre::environment_with({"GYRE_TEST_OLD=new"});
  EXPECT_EQ(std::count(all.begin(), all.end(), "GYRE_TEST_OLD=new"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "GYRE_TEST_OLD=old"), 0);
  ::unsetenv("GYRE_TEST_OLD");
}

TEST(process, can_send_its_errors_where_its_output_goes) {
  run_test([]() -> gyre::task<> {
    const process_options options{.standard_error = redirect::to_output()};
    const auto result = co_await shell("echo a; echo b >&2; echo c", options);
    EXPECT_EQ(result.output, "a\nb\nc\n");
    EXPECT_EQ(result.error, "");
  });
}

TEST(process, may_have_streams_that_go_to_null_and_to_files) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    {
      auto file = co_await gyre::fs::file::open(dir.path("log"), gyre::fs::for_writing);
      process child = process::start_shell("cat; echo said; echo lost >&2",
                                           {.standard_input = redirect::null(),
                                            .standard_output = redirect::descriptor(file.native_descriptor()),
                                            .standard_error = redirect::null()});
      const auto status = co_await child.wait();
      EXPECT_TRUE(status.success());
    }
    EXPECT_EQ(dir.get("log"), "said\n");
  });
}

TEST(process, is_joined_with_another_one_by_a_pipe) {
  run_test([]() -> gyre::task<> {
    gyre::pipe_descriptors between = gyre::open_pipe();
    process a = process::start_shell("echo b; echo a", {.standard_output = redirect::descriptor(between.writer.get())});
    process b = process::start(
        {"sort"}, {.standard_input = redirect::descriptor(between.reader.get()), .standard_output = redirect::pipe()});
    between.writer.close();
    between.reader.close();
    const auto result = co_await b.communicate();
    EXPECT_EQ(result.output, "a\nb\n");
    const auto status = co_await a.wait();
    EXPECT_TRUE(status.success());
  });
}

TEST(process, waits_for_input_from_a_socket_of_this_program) {
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

TEST(process, that_shares_a_socket_does_not_make_this_program_wait) {
  run_test([]() -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    auto child = process::start({"true"}, {.standard_input = redirect::descriptor(pair.second.native_descriptor())});
    co_await child.wait();
    std::array<std::byte, 1> buffer;
    co_await expect_time_out(gyre::timeout(5ms, pair.second.read_some(buffer)));
    const std::string large(10'000'000, 'x');
    co_await expect_time_out(gyre::timeout(5ms, pair.second.write_all(large)));
  });
}

TEST(process, waits_for_the_output_of_another_one_that_it_reads) {
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

TEST(process, is_not_handed_other_descriptors) {
  run_test([]() -> gyre::task<> {
    const int leaky = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
    const auto result = co_await shell("ls /proc/self/fd | wc -l");
    ::close(leaky);
    EXPECT_EQ(result.output, "4\n");  // the standard streams, and the directory that ls reads
  });
}

TEST(process, that_says_more_than_the_limit_is_an_error) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"yes"}, {.standard_output = redirect::pipe()});
    co_await expect_error(child.communicate("", 100'000), "communicate standard output of yes: File too large");
  });
  EXPECT_FALSE(has_children());
}

TEST(process, can_talk_line_by_line) {
  run_test([]() -> gyre::task<> {
    process child = process::start({"cat"}, for_a_conversation());
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

TEST(process, runs_beside_many_others) {
  run_test([]() -> gyre::task<> {
    std::vector<gyre::task<gyre::process_result>> all;
    for (int i = 0; i < 30; ++i) all.push_back(shell("cat; echo " + std::to_string(i), process_options(), "in "));
    const auto results = co_await gyre::gather(std::move(all));
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].output, "in " + std::to_string(i) + "\n");
  });
  EXPECT_FALSE(has_children());
}
