// tests/loop/operation_test.cpp: the rules that every awaited operation keeps.
#include <gyre/io/pipe.hpp>
#include <gyre/loop/io_operation.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/sleep.hpp>

#include "tests/support/real_run.hpp"
#include "tests/support/virtual_run.hpp"

#include <unistd.h>

#include <expected>
#include <system_error>

using namespace gyre_test;

#if defined(__clang__)  // g++ 12 awaits a copy of a named operation, which is a new one each time
TEST(operation_death, that_is_awaited_twice_stops_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [] {
    run_virtual([]() -> gyre::task<> {
      auto once = gyre::sleep(1ms);
      co_await once;
      co_await once;
    });
  };
  EXPECT_DEATH(twice(), "awaited for the second time");
}
#endif

namespace {

// Waits until `descriptor` is readable, counts its completions, and gives the descriptor up at its end.
struct counted_op : gyre::io_operation<counted_op> {
  counted_op(gyre::io::descriptor& descriptor, int& count) : completions(&count) {
    code = gyre::io::opcode::wait_readable;
    target = &descriptor;
  }
  void on_complete() noexcept {
    ++*completions;
    gyre::event_loop::current().backend().detach(*target);
    proceed(*this);
  }
  static std::expected<void, std::error_code> take_result() { return {}; }
  [[noreturn]] static void fail(std::error_code reason) { throw std::system_error(reason); }

  int* completions;
};

}  // namespace

TEST(io_operation, calls_the_on_complete_of_the_class_that_derives_from_it) {
  run_real([]() -> gyre::task<> {
    const gyre::pipe_descriptors ends = gyre::open_pipe();
    EXPECT_EQ(::write(ends.writer.get(), "x", 1), 1);
    gyre::io::descriptor descriptor{.fd = ends.reader.get()};
    int completions = 0;
    co_await counted_op(descriptor, completions);
    EXPECT_EQ(completions, 1);
  });
}
