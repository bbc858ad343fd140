// tests/runtime/time_namespace_test.cpp: timers in a time namespace, where a container that was restored from a
// checkpoint runs. time_namespaces(7).
#include <gyre/loop/sleep.hpp>
#include <gyre/runtime/run.hpp>

#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

constexpr int new_time_namespace = 0x80;  // CLONE_NEWTIME, which <sched.h> lacks

/// Sleeps for 50 ms in a namespace whose monotonic clock differs from that of the host. Returns an error, or nothing.
std::string sleep_at_offset(const std::string& seconds) {
  if (::unshare(new_time_namespace) != 0) return "not allowed";
  const std::string offset = "monotonic " + seconds + " 0\n";
  const int file = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
  const bool written = ::write(file, offset.data(), offset.size()) == static_cast<ssize_t>(offset.size());
  ::close(file);
  if (!written) return "not allowed";
  return in_child_process([]() -> std::string {  // only children are in the namespace
           std::uint64_t waits = 0;
           const auto began = std::chrono::steady_clock::now();
           gyre::run([&]() -> gyre::task<> {
             co_await gyre::sleep(50ms);
             waits = gyre::event_loop::current().waits();
           });
           const auto taken = std::chrono::steady_clock::now() - began;
           if (taken < 50ms) return "too short";
           if (taken > 2s) return "too long";
           if (waits > 100) return "does not sleep";
           return "as long as on the host";
         })
      .text;
}

}  // namespace

TEST(time_namespace, a_sleep_takes_as_long_as_on_the_host) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  for (const char* const seconds : {"3", "-1"}) {
    const child_outcome outcome = in_child_process([&] { return sleep_at_offset(seconds); });
    if (outcome.says("not allowed")) GTEST_SKIP() << "namespaces are not allowed";
    EXPECT_EQ(outcome.text, "as long as on the host") << seconds;
  }
}
