// tests/contract/turning_backend.hpp: a backend without a loop, turned by hand.
#pragma once

#include <gyre/io.hpp>
#include <gyre/io/backend_choice.hpp>

#include "src/io/uring_backend.hpp"
#include "tests/support/planned_backend.hpp"

#include <gtest/gtest.h>

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>

namespace gyre::contract {

inline constexpr io::monotonic_time milliseconds = 1'000'000;
inline constexpr io::monotonic_time patience = 10'000 * milliseconds;  // after this a test gives up

inline io::monotonic_time now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return io::monotonic_time{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// The features that the ring of an older kernel lacks.
enum class kernel_kind : std::uint8_t {
  present,
  without_receives,
  without_accepts,
  without_multishots,
  with_array,
  oldest
};

/// A kind of backend, and how to wait: in the backend, or in its user, which polls the backend's descriptor.
struct backend_way {
  io::backend_kind kind;
  bool polled = false;
  io::opcode code = io::opcode::receive_many;  // for suites that run with several operations
  kernel_kind like = kernel_kind::present;
  [[nodiscard]] bool is_epoll() const noexcept {
    return kind == io::backend_kind::epoll || kind == gyre_test::planned_epoll;
  }
};

/// Makes an io_uring backend that uses no more than the features of such a kernel.
inline io::backend_owner make_older(kernel_kind like, const io::backend_options& options) {
  uring::refusal refused;
  uring::capabilities known = io::uring_backend(options, nullptr, refused).capabilities();
  const bool is_oldest = like == kernel_kind::oldest;
  const bool has_no_multishot = is_oldest || like == kernel_kind::without_multishots;
  if (has_no_multishot || like == kernel_kind::without_receives) known.multishot_receive = false;
  if (has_no_multishot || like == kernel_kind::without_accepts) known.multishot_accept = false;
  if (is_oldest || like == kernel_kind::with_array) known.no_submission_array = false;
  auto made = std::make_unique<io::uring_backend>(options, &known, refused);
  EXPECT_EQ(refused.error, 0) << refused.step;
  return io::backend_owner(made.release());
}

/// False on a kernel before 6.10, whose ring gets one result at a time.
inline bool ring_has_multishots() {
  uring::refusal refused;
  static const bool has = io::uring_backend({}, nullptr, refused).capabilities().multishot_receive;
  return has;
}

/// A backend that is turned as in a loop.
class turning_backend {
 public:
  turning_backend() = default;
  explicit turning_backend(backend_way way) { make(way); }
  explicit turning_backend(io::backend_kind kind) { make({.kind = kind}); }

  void make(backend_way way, io::backend_options options = small()) {
    options.kind = way.kind;
    polled_ = way.polled;
    if (way.like == kernel_kind::present)
      owner_ = io::make_backend(options, choice_);
    else
      owner_ = make_older(way.like, options);
    if (polled_ && owner_) EXPECT_GE(owner_->pollable(), 0);
  }

  /// A small ring, because rings count towards the user's locked memory and many tests make one.
  static io::backend_options small() {
    return {.submission_entries = 64,
            .completion_entries = 1024,
            .buffer_count = 64,
            .buffer_size = 1024,
            .large_buffer_count = 8,
            .large_buffer_size = 4096};
  }

  explicit operator bool() const noexcept { return static_cast<bool>(owner_); }
  io::backend& operator*() const noexcept { return *owner_; }
  io::backend* operator->() const noexcept { return &*owner_; }
  [[nodiscard]] const char* reason() const noexcept { return choice_.reason; }
  void destroy() { owner_ = io::backend_owner(); }

  /// Lets the backend hand out completions without calling them yet.
  void collect(io::monotonic_time deadline = io::do_not_wait) {
    if (polled_ && deadline != io::do_not_wait) {
      const io::monotonic_time until = owner_->prepare_wait(deadline, ready_);
      if (until == io::do_not_wait) return;
      poll_until(until);
      deadline = io::do_not_wait;
    }
    owner_->wait(deadline, ready_);
  }
  /// Calls the completions that have been handed out.
  void run_ready() {
    while (!ready_.empty()) {
      io::completion& item = ready_.pop_front();
      item.complete(item);
    }
  }

  /// Waits only when there is nothing to do, as a loop does.
  void turn(io::monotonic_time deadline = io::do_not_wait) {
    collect(ready_.empty() ? deadline : io::do_not_wait);
    run_ready();
  }

  /// Turns, waiting, until `condition` holds. Returns false if it has not held in time.
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    const io::monotonic_time end = now() + patience;
    while (!condition()) {
      if (now() >= end) return false;
      turn(end);
    }
    return true;
  }

  /// Collects completions without calling them, until there is at least one.
  [[nodiscard]] bool collect_something() {
    const io::monotonic_time end = now() + patience;
    while (ready_.empty() && now() < end) collect(end);
    return !ready_.empty();
  }

  /// Gives everything in flight the time to arrive, for tests that expect nothing further.
  void settle() {
    for (int i = 0; i < 20; ++i) turn();
    turn(now() + 5 * milliseconds);
  }

  /// The number of system calls that `action` causes in the backend.
  template <class Action>
  [[nodiscard]] std::uint64_t calls_of(Action action) {
    const std::uint64_t before = owner_->system_calls();
    action();
    return owner_->system_calls() - before;
  }

 private:
  void poll_until(io::monotonic_time deadline) const {
    pollfd watched{.fd = owner_->pollable(), .events = POLLIN, .revents = 0};
    const io::monotonic_time rest = std::max<io::monotonic_time>(0, deadline - now());
    const timespec left{.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
    ::ppoll(&watched, 1, deadline == io::wait_forever ? nullptr : &left, nullptr);
  }

  io::backend_choice choice_;
  bool polled_ = false;
  io::backend_owner owner_;
  io::ready_list ready_;
};

}  // namespace gyre::contract
