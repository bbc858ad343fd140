// tests/process/stored_status_test.cpp: the kernel stores a status just while it is queried.
#include "tests/process/children.hpp"

#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>

using namespace gyre_test;
using gyre::process;

namespace {

int questions_that_come_too_early = 0;  // queries with PIDFD_GET_INFO that fail

gyre::task<gyre::exit_status> status_of_stolen(int code) {
  process child = start_stolen("exit " + std::to_string(code));
  co_return co_await child.wait();
}

}  // namespace

extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  constexpr unsigned long pidfd_requests = 0xFF;
  if ((request >> 8U & 0xFFU) == pidfd_requests && questions_that_come_too_early > 0) {
    --questions_that_come_too_early;
    errno = ESRCH;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}

TEST(stored_status, is_found_although_the_child_was_reaped_in_the_middle_of_the_question) {
  run_test([]() -> gyre::task<> {
    const auto kept = co_await status_of_stolen(3);
    if (kept.unknown) co_return;  // this kernel does not keep statuses
    questions_that_come_too_early = 1;
    const auto status = co_await status_of_stolen(4);
    EXPECT_EQ(questions_that_come_too_early, 0);
    EXPECT_EQ(status, gyre::exit_status{.code = 4}) << status.string();
  });
}
