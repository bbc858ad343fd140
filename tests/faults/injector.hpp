// tests/faults/injector.hpp: runs a scenario with its first, second, … last allocation or descriptor failing.
#pragma once

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>

namespace gyre_test {

using namespace std::chrono_literals;

enum class fault_kind : unsigned char {
  allocation,   ///< the n-th allocation throws std::bad_alloc
  shortage,     ///< so do the three after it, which makes the handling of a failure fail as well
  process_fds,  ///< the n-th call that creates a descriptor fails with EMFILE
  system_fds,   ///< the n-th call that creates a descriptor fails with ENFILE
  fd_limit,     ///< at most n - 1 further descriptors can be open at the same time, also on io_uring
};

/// Passed to a scenario, which marks the part of it in which something fails.
class fault_injection {
 public:
  fault_injection(fault_kind kind, long n) noexcept : kind_(kind), n_(n) {}
  /// Begins the part in which something fails.
  void arm();
  /// Ends it. The end of the scenario does the same.
  void disarm() noexcept;
  /// True when something has failed. With fd_limit, true when the limit was low enough for a failure.
  [[nodiscard]] bool reached() const noexcept { return reached_; }
  [[nodiscard]] fault_kind kind() const noexcept { return kind_; }
  /// False in the warm-up runs, in which nothing fails.
  [[nodiscard]] bool active() const noexcept { return n_ > 0; }

 private:
  fault_kind kind_;
  long n_;  // 0: nothing fails
  bool armed_ = false;
  bool reached_ = false;
};

using fault_scenario = gyre::task<> (*)(fault_injection&);

/// Tests what one failure does, once for each kind of failure.
///
/// `survives` runs a scenario on a new loop with virtual time and lets its n-th allocation or descriptor fail, for n =
/// 1, 2, …, until the scenario ends without a failure. (The address sanitizer leaves out some of these.) The test fails
/// when a run crashes, hangs, leaks memory or descriptors, throws `cancelled`, or throws although nothing has failed.
/// Any other exception is a correct outcome of a failure. The scenario checks all other requirements.
class faults : public testing::TestWithParam<fault_kind> {
 protected:
  /// `backend` are the options of the loop.
  void survives(fault_scenario scenario, const gyre::io::backend_options& backend = {});

 private:
  bool run(fault_scenario scenario, long n);
  bool run_here(fault_scenario scenario, long n);
  void run_apart(fault_scenario scenario);

  gyre::io::backend_options backend_;
};

/// Awaits `attempt()`, in which something fails. Then calls `check(failed)`, and awaits its result if that is a task.
/// Errors: same as the attempt.
template <class Attempt, class Check>
gyre::task<> fail_and_check(fault_injection& f, Attempt attempt, Check check) {
  std::exception_ptr failure;
  try {
    f.arm();
    co_await attempt();
  } catch (...) {
    failure = std::current_exception();
  }
  f.disarm();
  const bool failed = failure != nullptr;
  if constexpr (std::is_void_v<std::invoke_result_t<Check&, bool>>)
    check(failed);
  else
    co_await check(failed);
  if (failed) std::rethrow_exception(failure);
}

/// Calls `attempt()`, in which something fails, on a thread of its own.
/// Errors: same as the attempt.
template <class Attempt>
void fail_on_thread(fault_injection& f, Attempt attempt) {
  std::exception_ptr failure;
  std::thread([&] {
    gyre::frame_pool::keep_nothing();
    try {
      f.arm();
      attempt();
    } catch (...) {  // thrown again on the other thread
      failure = std::current_exception();
    }
    f.disarm();
  }).join();
  if (failure) std::rethrow_exception(failure);
}

/// Names the kinds of failure in the names of the tests.
inline std::string kind_name(const testing::TestParamInfo<fault_kind>& info) {
  constexpr std::array<const char*, 5> names{"allocation", "shortage", "process_fds", "system_fds", "fd_limit"};
  return names[static_cast<std::size_t>(info.param)];
}

}  // namespace gyre_test
