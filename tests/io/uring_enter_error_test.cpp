// tests/io/uring_enter_error_test.cpp: the backend's behaviour when the call that enters the ring fails.
#include "tests/io/uring_fixture.hpp"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace {

/// The next `left` calls with that number fail with that error, on the test's thread.
struct failing_calls {
  long number = 0;
  int error = 0;
  int left = 0;
  int made = 0;
};
constinit thread_local failing_calls failing;

}  // namespace

extern "C" long syscall(long number, ...) {
  using real_call = long (*)(long, ...);
  // Not a static with a guard: its initialization may wait with this very call.
  static constinit std::atomic<real_call> found = nullptr;
  real_call real = found.load(std::memory_order_relaxed);
  if (real == nullptr) found = real = reinterpret_cast<real_call>(::dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long values[6];
  for (long& each : values) each = va_arg(list, long);
  va_end(list);
  if (number == failing.number && failing.left > 0) {
    --failing.left;
    ++failing.made;
    errno = failing.error;
    return -1;
  }
  return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

namespace gyre::uring_test {
namespace {

constexpr int for_ever = 1 << 30;

class uring_enter_error : public uring_backend {
 protected:
  void TearDown() override {
    failing = {};
    backend.destroy();
  }
  static void fail(int error, int times, long number = SYS_io_uring_enter) {
    failing = {.number = number, .error = error, .left = times};
  }
  /// Begins another backend, whose first call fails once.
  uring::refusal begin_with_failure(int error) {
    const uring::capabilities known = static_cast<const io::uring_backend&>(*backend).capabilities();
    fail(error, 1);
    uring::refusal refused;
    const io::uring_backend made(turning_backend::small(), &known, refused);
    return refused;
  }
};

TEST_F(uring_enter_error, by_lack_of_kernel_memory_delays_operations_and_loses_none) {
  for (const int error : {EBUSY, EAGAIN, ENOMEM}) {
    byte_receiver receiving(backend);
    fail(error, 5);
    submit(receiving);
    say(receiving.peer, "x");
    ASSERT_TRUE(turn_until_idle());
    EXPECT_EQ(receiving.result, 1);
    EXPECT_EQ(failing.made, 5);
  }
}

TEST_F(uring_enter_error, by_lack_of_kernel_memory_for_a_second_is_reported_once) {
  ::testing::internal::CaptureStderr();
  fail(ENOMEM, 1'100);  // each is followed by a pause, of 1 ms on an idle machine
  while (failing.left > 0) backend.turn(now() + 1'000 * milliseconds);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "gyre: io_uring_enter has failed for a second: the kernel is short of memory; the loop goes on trying\n");
}

TEST_F(uring_enter_error, with_a_full_queue_makes_the_next_operation_wait_for_room) {
  std::deque<byte_receiver> all = receivers(200);
  fail(ENOMEM, 10);
  for (byte_receiver& each : all) {
    submit(each);
    say(each.peer, "x");
  }
  EXPECT_TRUE(turn_until_idle());
  for (const byte_receiver& each : all) EXPECT_EQ(each.completions, 1);
  EXPECT_EQ(failing.left, 0);
}

TEST_F(uring_enter_error, that_interrupts_the_first_call_does_not_refuse_the_backend) {
  EXPECT_EQ(begin_with_failure(EINTR).error, 0);
  EXPECT_EQ(failing.made, 1);
}

TEST_F(uring_enter_error, that_denies_the_first_call_refuses_the_backend_by_its_name) {
  const uring::refusal refused = begin_with_failure(EACCES);
  EXPECT_EQ(refused.error, EACCES);
  EXPECT_STREQ(refused.step, "io_uring_enter");
}

TEST_F(uring_enter_error, that_is_for_good_stops_the_program_with_its_cause) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // a forked child does not have the memory of the ring
  const auto turn_with = [&](int error) {
    fail(error, for_ever);
    backend.turn();
    backend.settle();
  };
  for (const int error : {EPERM, EACCES, ENOSYS})
    EXPECT_DEATH(turn_with(error), "a seccomp filter denies it since the loop was made");
  EXPECT_DEATH(turn_with(EEXIST), "EEXIST: a loop is used from a thread that is not its own");
  EXPECT_DEATH(turn_with(EBADR), "EBADR: the kernel had no memory for a completion, and dropped it");
  EXPECT_DEATH(turn_with(EBADF), "EBADF: the ring is broken, or the program has closed a descriptor");
}

// The ring stays open then, so this runs in a child, whose memory is not checked.
TEST_F(uring_enter_error, at_the_end_of_a_backend_gives_up_after_a_while) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto end_without_answers = [&] {
    byte_receiver receiving(backend);
    submit(receiving);
    backend.turn();
    fail(EAGAIN, for_ever);
    backend.destroy();
    ::_exit(failing.made >= 100 && receiving.completions == 0 ? 7 : 1);
  };
  EXPECT_EXIT(end_without_answers(), ::testing::ExitedWithCode(7), "");
}

TEST_F(uring_enter_error, from_the_registration_of_a_signal_is_reported_to_a_guest) {
  fail(EPERM, 1, SYS_io_uring_register);
  EXPECT_EQ(backend->pollable(), -EPERM);
  EXPECT_GE(backend->pollable(), 0) << "the next attempt may have more luck";
}

TEST_F(uring_enter_error, a_signal_that_there_is_no_descriptor_for_is_what_a_guest_is_told) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const int told = backend->pollable();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(told, -EMFILE);
}

}  // namespace
}  // namespace gyre::uring_test
