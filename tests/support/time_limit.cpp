// tests/support/time_limit.cpp: a time limit for every test. A test that hangs ends the program with a sentence.
#include "tests/support/time_limit.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gyre_test {
namespace {

// gyre::testing::run_test ends a hanging task after one minute and says where it waits. This limit is for everything
// else, and ctest's limit for the whole program is longer.
constexpr time_t limit = 150;

char sentence[512];  // for the signal handler

void stop(int) {
  (void)!::write(STDERR_FILENO, sentence, std::strlen(sentence));
  ::signal(SIGABRT, SIG_DFL);
  std::abort();
}

// Uses a timer of the kernel, because a thread would disturb tests that fork or count threads, and some tests use
// alarm(2). A forked child does not inherit the timer.
class limits final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    std::snprintf(sentence, sizeof(sentence), "%s.%s hangs: it has not ended after %ld s\n", test.test_suite_name(),
                  test.name(), static_cast<long>(limit));
    if (!exists_) create();
    restart();
  }
  void OnTestEnd(const testing::TestInfo&) override { set(0); }
  void restart() {
    if (exists_) set(limit);
  }

 private:
  void create() {
    struct sigaction action{};
    action.sa_handler = stop;
    ::sigaction(number(), &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = number();
    exists_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  void set(time_t seconds) {
    const itimerspec when{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_nsec = 0}};
    if (exists_) ::timer_settime(timer_, 0, &when, nullptr);
  }
  static int number() { return SIGRTMAX; }

  timer_t timer_{};
  bool exists_ = false;
};

limits& the_limits() {
  static auto* const only = [] {
    auto* const made = new limits;
    testing::UnitTest::GetInstance()->listeners().Append(made);  // which owns it
    return made;
  }();
  return *only;
}

[[maybe_unused]] const limits& at_start = the_limits();

}  // namespace

void restart_time_limit() { the_limits().restart(); }

}  // namespace gyre_test
