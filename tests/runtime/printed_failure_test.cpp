// tests/runtime/printed_failure_test.cpp: a program prints an exception on one line, whatever its text.
#include <gyre/gyre.hpp>

#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <stdexcept>
#include <string>

namespace {

const char* const hostile = "bad name \"a\x1b[2J\nerror: forged\u202e\"";
const std::string shown = R"(bad name "a\x1b[2J\x0aerror: forged\u202e")";

gyre::task<> fail() {
  co_await gyre::yield();
  throw std::runtime_error(hostile);
}

}  // namespace

TEST(printed_failure, run_main_prints_what_is_in_an_exception_as_one_line) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(gyre::run_main(fail()), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: " + shown + "\n");
}

TEST(printed_failure, a_background_task_that_fails_prints_one_line) {
  testing::internal::CaptureStderr();
  gyre::run([]() -> gyre::task<> {
    gyre::spawn(fail(), {.name = "task\r\x07"}).detach();
    for (int i = 0; i < 3; ++i) co_await gyre::yield();
  }());
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with(R"(gyre: task task\x0d\x07 spawned at )")) << text;
  EXPECT_TRUE(text.ends_with(" failed: " + shown + "\n")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(printed_failure, says_what_failed_when_it_has_no_place_and_no_name) {
  testing::internal::CaptureStderr();
  const auto failure = std::make_exception_ptr(std::runtime_error("no memory"));
  gyre::event_loop::report({failure, {}, {}, "giving an item back"});
  gyre::event_loop::report({failure, "GET /", {}, "request"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gyre: giving an item back failed: no memory\ngyre: request GET / failed: no memory\n");
}

TEST(printed_failure, a_message_reaches_no_descriptor_that_was_opened_after_standard_error_was_closed) {
  const auto said = gyre_test::in_child_process([] {
    for (const int number : {0, 1, 2}) ::close(number);
    std::string text;
    auto program = [&]() -> gyre::task<> {
      const gyre::pipe_descriptors ends = gyre::open_pipe();
      gyre::print_diagnostic({"a message"});
      text = ends.reader.get() > 2 && ends.writer.get() > 2 ? "apart" : "mixed up";
      char byte = 0;
      if (::read(0, &byte, 1) >= 0 || ::write(1, &byte, 1) >= 0) text += ", and a closed stream works";
      co_return;
    };
    (void)gyre::run_main(program());
    return text;
  });
  EXPECT_EQ(said.text, "apart");
}
