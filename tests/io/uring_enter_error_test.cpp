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
    d.reset();
  }
  static void fail(int error, int times, long number = SYS_io_uring_enter) {
    failing = {.number = number, .error = error, .left = times};
  }
};

TEST_F(uring_enter_error, of_a_kernel_short_of_memory_delays_operations_and_loses_none) {
  for (const int error : {EBUSY, EAGAIN, ENOMEM}) {
    const connection c = unix_connection();
    io::descriptor target = over(c.ours);
    char buffer[16];
    one_shot receiving(io::opcode::receive_into, target, buffer, sizeof(buffer));
    fail(error, 5);
    d->backend->submit(receiving);
    say(c.peer, "hello");
    ASSERT_TRUE(d->turn_until([&] { return receiving.completions > 0; }));
    EXPECT_EQ(receiving.result, 5);
    EXPECT_EQ(failing.made, 5);
  }
}

TEST_F(uring_enter_error, of_a_kernel_short_of_memory_for_a_second_is_reported_once) {
  ::testing::internal::CaptureStderr();
  fail(ENOMEM, 1'100);  // each is followed by a pause, of 1 ms on an idle machine
  while (failing.left > 0) d->turn(now() + 1'000 * milliseconds);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "gyre: io_uring_enter has failed for a second: the kernel is short of memory; the loop goes on trying\n");
}

TEST_F(uring_enter_error, with_a_full_queue_makes_the_next_operation_wait_for_room) {
  std::vector<connection> connections;
  std::vector<io::descriptor> targets;
  std::vector<std::unique_ptr<one_shot>> all;
  char buffer[200];
  for (std::size_t i = 0; i < 200; ++i) connections.push_back(unix_connection());
  for (const connection& each : connections) targets.push_back(over(each.ours));
  fail(ENOMEM, 10);
  for (std::size_t i = 0; i < 200; ++i) {
    all.push_back(std::make_unique<one_shot>(io::opcode::receive_into, targets[i], &buffer[i], 1));
    d->backend->submit(*all.back());
    say(connections[i].peer, "x");
  }
  const auto ended = [&] {
    for (const auto& each : all)
      if (each->completions != 1) return false;
    return true;
  };
  EXPECT_TRUE(d->turn_until(ended));
  EXPECT_EQ(failing.left, 0);
}

TEST_F(uring_enter_error, that_interrupts_the_first_call_does_not_refuse_the_backend) {
  fail(EINTR, 1);
  const uring::capabilities known = d->backend->capabilities();  // of the backend that is being replaced
  begin(driver::small(), &known);
  EXPECT_EQ(failing.made, 1);
}

TEST_F(uring_enter_error, that_denies_the_first_call_refuses_the_backend_by_its_name) {
  const uring::capabilities known = d->backend->capabilities();
  fail(EACCES, 1);
  const driver denied(driver::small(), &known);
  EXPECT_EQ(denied.refused.error, EACCES);
  EXPECT_STREQ(denied.refused.step, "io_uring_enter");
}

TEST_F(uring_enter_error, that_is_for_good_stops_the_program_with_its_cause) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // a forked child does not have the memory of the ring
  const auto turn_with = [&](int error) {
    fail(error, for_ever);
    d->turn();
    d->settle();
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
    const connection c = unix_connection();
    io::descriptor target = over(c.ours);
    char buffer[16];
    one_shot receiving(io::opcode::receive_into, target, buffer, sizeof(buffer));
    d->backend->submit(receiving);
    d->turn();
    fail(EAGAIN, for_ever);
    d.reset();
    ::_exit(failing.made >= 100 && receiving.completions == 0 ? 7 : 1);
  };
  EXPECT_EXIT(end_without_answers(), ::testing::ExitedWithCode(7), "");
}

TEST_F(uring_enter_error, of_registering_a_signal_is_what_a_guest_is_told) {
  fail(EPERM, 1, SYS_io_uring_register);
  EXPECT_EQ(d->backend->pollable(), -EPERM);
  EXPECT_GE(d->backend->pollable(), 0) << "the next attempt may have more luck";
}

TEST_F(uring_enter_error, a_signal_that_there_is_no_descriptor_for_is_what_a_guest_is_told) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const int told = d->backend->pollable();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(told, -EMFILE);
}

}  // namespace
}  // namespace gyre::uring_test
