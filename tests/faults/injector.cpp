// tests/faults/injector.cpp: runs a scenario once, compares what it owned before and after, and ends runs that hang.
#include "tests/faults/injector.hpp"

#include <gyre/coro/frame_pool.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/faults/failing_allocator.hpp"
#include "tests/faults/failing_descriptors.hpp"
#include "tests/support/planned_backend.hpp"
#include "tests/support/sanitized.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace gyre_test {
namespace {

constexpr long max_descriptors = 16;  // the most that a scenario needs at the same time
constexpr int max_run = 30;           // seconds

// Scenarios with many points of failure take the address sanitizer minutes. After the first points it tries every third
// one. Other builds try all.
constexpr long first_points = 60;
constexpr long step = gyre_test::has_address_sanitizer ? 3 : 1;

char label[256] = "";  // names the current run for the signal handlers

void say_where(int number) {
  std::fprintf(stderr, "\n%s: %s\n", label, number == SIGALRM ? "the run hangs" : "the program ends");
  allocations::print_failure();
  ::signal(number, SIG_DFL);
  if (number == SIGALRM) ::abort();
  ::raise(number);
}

void watch_for_the_end() {
  ::signal(SIGABRT, &say_where);
  ::signal(SIGALRM, &say_where);
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = max_run, .tv_usec = 0}};
  ::setitimer(ITIMER_REAL, &limit, nullptr);
}

// A thread that std::thread has started owns one allocation while it runs. Threads of the pool outlive a run.
long threads() {
  long count = 0;
  DIR* const directory = ::opendir("/proc/self/task");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

struct possessions {
  long allocations = 0;
  std::size_t descriptors = 0;
  friend bool operator==(const possessions&, const possessions&) = default;

  static possessions now() { return {allocations::live() - threads(), gyre::testing::open_descriptors()}; }
  /// Waits briefly for equality, because a pool thread may still be starting, or finishing abandoned work.
  static possessions settled(const possessions& wanted) {
    possessions found = now();
    for (int i = 0; i < 500 && found != wanted; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      found = now();
    }
    return found;
  }
};

// Loops that a scenario makes, on any thread, use the planned kernel, too.
class use_planned_backend : public testing::Environment {
  void SetUp() override { ::setenv("GYRE_BACKEND", planned_kind().name.data(), 1); }
};
const testing::Environment* const planned = testing::AddGlobalTestEnvironment(new use_planned_backend);

void ignore_failure(const gyre::background_failure& /*failure*/, void* /*argument*/) noexcept {}

// Describes the exception that ended the scenario; empty when it returned.
std::string how_it_ended(gyre::task_handle<void>& handle) {
  try {
    handle.result();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  } catch (const gyre::cancelled&) {
    return "cancelled";
  } catch (...) {  // only described here
    return "an exception of unknown type";
  }
}

int failures_so_far() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

}  // namespace

void fault_injection::arm() {
  armed_ = true;
  if (n_ == 0) return;
  if (kind_ == fault_kind::allocation)
    allocations::fail_nth(n_);
  else if (kind_ == fault_kind::shortage)
    allocations::fail_nth(n_, 3);
  else if (kind_ == fault_kind::fd_limit)
    descriptors::limit_to(n_ - 1);
  else
    descriptors::fail_nth(n_, kind_ == fault_kind::process_fds ? EMFILE : ENFILE);
}

void fault_injection::disarm() noexcept {
  if (!std::exchange(armed_, false) || n_ == 0) return;
  if (kind_ == fault_kind::allocation || kind_ == fault_kind::shortage)
    reached_ = allocations::stop_failing();
  else
    reached_ = descriptors::stop_failing() || (kind_ == fault_kind::fd_limit && n_ <= max_descriptors);
}

// Uses a new thread, so that the thread's caches end with the run.
bool faults::run(fault_scenario scenario, long n) {
  bool reached = false;
  std::thread([&] { reached = run_here(scenario, n); }).join();
  return reached;
}

bool faults::run_here(fault_scenario scenario, long n) {
  std::snprintf(label, sizeof(label), "%s, failure %ld", testing::UnitTest::GetInstance()->current_test_info()->name(),
                n);
  SCOPED_TRACE(label);  // a scenario that fails names the failure that it did not survive
  watch_for_the_end();
  fault_injection injection(GetParam(), n);
  std::string ended;
  gyre::frame_pool::keep_nothing();
  {
    gyre::event_loop loop({.backend = backend_, .virtual_time = true});
    loop.set_exception_handler(&ignore_failure, nullptr);
    gyre::task_handle<void> handle = gyre::spawn(scenario(injection), {.name = "scenario"});
    while (!handle.done()) loop.turn(true);
    injection.disarm();
    loop.shutdown();
    ended = how_it_ended(handle);
  }
  ::alarm(0);
  if (ended == "cancelled") ADD_FAILURE() << label << ": cancelled, although nobody has cancelled it";
  if (!ended.empty() && !injection.reached())
    ADD_FAILURE() << label << ": threw \"" << ended << "\", although nothing has failed";
  return injection.reached();
}

void faults::survives(fault_scenario scenario, const gyre::io::backend_options& backend) {
  backend_ = backend;
  if (std::getenv("GYRE_FAULTS_APART") != nullptr) return run_apart(scenario);
  for (int i = 0; i < 3; ++i) (void)run(scenario, 0);
  possessions before = possessions::now();
  bool reached = true;
  for (long n = 1; reached && !HasFailure(); n += n < first_points ? 1 : step) {
    reached = run(scenario, n);
    if (possessions::settled(before) == before) continue;
    // A leak repeats itself each time. A first-time initialization during a failure does not, nor does a thread that a
    // busy machine does not let start or end.
    possessions once;
    possessions twice;
    bool leaks = true;
    for (int i = 0; i < 3 && leaks; ++i) {
      once = possessions::now();
      allocations::record(true);
      (void)run(scenario, n);
      twice = possessions::settled(once);
      allocations::record(false);
      leaks = twice != once;
    }
    before = twice;
    if (!leaks) continue;
    ADD_FAILURE() << label << ": allocations " << twice.allocations - once.allocations << ", descriptors "
                  << static_cast<long>(twice.descriptors) - static_cast<long>(once.descriptors);
    allocations::print_failure();
    allocations::print_recorded();
  }
}

// For debugging: runs each failure in a child process, so that a crash does not hide the next failures.
void faults::run_apart(fault_scenario scenario) {
  for (long n = 1; n < 2000; ++n) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 2; ++i) (void)run(scenario, 0);
      const int failed_before = failures_so_far();
      const possessions before = possessions::now();
      allocations::record(true);
      const bool reached = run(scenario, n);
      const possessions after = possessions::settled(before);
      allocations::record(false);
      if (after != before) {
        std::fprintf(stderr, "%s: allocations %+ld, descriptors %+ld\n", label, after.allocations - before.allocations,
                     static_cast<long>(after.descriptors) - static_cast<long>(before.descriptors));
        allocations::print_failure();
        allocations::print_recorded();
      }
      std::fflush(nullptr);
      ::_exit(reached ? (after != before || failures_so_far() > failed_before ? 1 : 0) : 77);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return;
    if (status != 0) ADD_FAILURE() << "failure " << n << ": status " << status;
  }
}

}  // namespace gyre_test
