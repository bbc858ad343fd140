// tests/tasks/cancelled_throws_test.cpp: how often the end of a cancelled task throws.
#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <chrono>

#include <dlfcn.h>
#include <unwind.h>

namespace {

std::size_t raised_exceptions = 0;

}  // namespace

// Counts throws and rethrows. The unwinder starts at its caller, so this frame is passed like any other.
extern "C" _Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception* exception) {
  static auto* const next =
      reinterpret_cast<_Unwind_Reason_Code (*)(_Unwind_Exception*)>(::dlsym(RTLD_NEXT, "_Unwind_RaiseException"));
  ++raised_exceptions;
  return next(exception);
}

TEST(cancelled_throws, a_sleeping_task_that_is_cancelled_throws_once) {
#ifdef _LIBCPP_VERSION
  GTEST_SKIP() << "libc++ tells the type of an exception only by throwing it";
#endif
  using namespace std::chrono_literals;
  constexpr int count = 100;
  auto sleeper = []() -> gyre::task<> { co_await gyre::sleep(1h); };
  auto in_a_group = [&](gyre::task_group& group) -> gyre::task<> {
    for (int i = 0; i < count; ++i) group.spawn(sleeper());
    co_await gyre::yield();
    group.cancel();
  };
  auto alone = [&]() -> gyre::task<> {
    auto task = gyre::spawn(sleeper());
    co_await gyre::yield();
    task.cancel();
    co_await task.wait();
  };
  auto main = [&]() -> gyre::task<> {
    std::size_t before = raised_exceptions;
    co_await gyre::task_group::scope(in_a_group);
    EXPECT_EQ(raised_exceptions - before, std::size_t{count});
    before = raised_exceptions;
    co_await alone();
    EXPECT_EQ(raised_exceptions - before, 1U);
  };
  gyre::run(main);
}
