// tests/io/uring_fixture.hpp: the io_uring backend without a loop, with any capabilities left out.
#pragma once

#include <gyre/io/backend_choice.hpp>

#include "src/io/uring_backend.hpp"
#include "tests/contract/sockets.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace gyre::uring_test {

using contract::connection;
using contract::owned_fd;
using contract::received_by;
using contract::say;
using contract::tcp_server;
using contract::unix_connection;
using contract::unix_server;

inline constexpr io::monotonic_time milliseconds = 1'000'000;

inline io::monotonic_time now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return io::monotonic_time{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// A descriptor that its owner keeps.
inline io::descriptor over(const owned_fd& fd) {
  io::descriptor d;
  d.fd = fd.get();
  return d;
}

/// A one-shot request that counts its completions.
struct one_shot : io::request {
  int completions = 0;

  one_shot(io::opcode operation, io::descriptor& d, void* data = nullptr, std::size_t size = 0) {
    code = operation;
    target = &d;
    address = data;
    length = static_cast<std::uint32_t>(size);
    complete = [](io::completion& c) noexcept { ++static_cast<one_shot&>(static_cast<io::request&>(c)).completions; };
  }
};

/// A multishot that records what it is given, and keeps the buffers.
struct many : io::multishot {
  std::vector<int> results;
  std::vector<std::uint32_t> buffers;

  many(io::opcode operation, io::descriptor& d) {
    code = operation;
    target = &d;
    complete = [](io::completion& c) noexcept {
      static_cast<io::multishot&>(static_cast<io::request&>(c)).listed = false;
    };
    deliver = [](io::multishot& m, int got, std::uint32_t buffer) noexcept {
      auto& self = static_cast<many&>(m);
      self.results.push_back(got);
      if (buffer != no_buffer) self.buffers.push_back(buffer);
    };
  }
  [[nodiscard]] bool ended() const noexcept { return where == io::phase::idle; }
  [[nodiscard]] int last() const noexcept { return results.empty() ? -12345 : results.back(); }
};

/// The backend and its ready list, turned by hand.
struct driver {
  uring::refusal refused;
  std::unique_ptr<io::uring_backend> backend;
  io::ready_list ready;

  explicit driver(const io::backend_options& options, const uring::capabilities* known = nullptr)
      : backend(std::make_unique<io::uring_backend>(options, known, refused)) {}

  /// A small ring, because rings count towards the user's locked memory and many tests make one.
  static io::backend_options small() {
    return {.submission_entries = 64, .completion_entries = 1024, .buffer_count = 64, .buffer_size = 256};
  }

  int run_ready() {
    int count = 0;
    for (; !ready.empty(); ++count) {
      io::completion& item = ready.pop_front();
      item.complete(item);
    }
    return count;
  }
  int turn(io::monotonic_time deadline = io::do_not_wait) {
    backend->wait(deadline, ready);
    return run_ready();
  }
  template <class Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    const io::monotonic_time end = now() + 10'000 * milliseconds;
    while (!condition()) {
      if (now() >= end) return false;
      turn(end);
    }
    return true;
  }
  /// Turns often enough for everything to happen that needs no further action.
  void settle() {
    for (int i = 0; i < 20; ++i) turn();
    turn(now() + 2 * milliseconds);
  }
  /// The number of system calls of `f`.
  template <class F>
  [[nodiscard]] std::uint64_t calls_of(F f) {
    const std::uint64_t before = backend->system_calls();
    f();
    return backend->system_calls() - before;
  }
  void release(many& m, std::size_t count) {
    for (; count > 0 && !m.buffers.empty(); --count) {
      backend->buffers().release(m.buffers.front());
      m.buffers.erase(m.buffers.begin());
    }
  }
};

class uring_backend : public ::testing::Test {
 protected:
  void SetUp() override {
    const io::backend_choice& choice = io::process_backend_choice();
    if (choice.kind != io::backend_kind::io_uring) GTEST_SKIP() << "no io_uring here: " << choice.reason;
    begin(driver::small());
  }
  void begin(const io::backend_options& options, const uring::capabilities* known = nullptr) {
    d.reset();
    d = std::make_unique<driver>(options, known);
    ASSERT_EQ(d->refused.error, 0) << d->refused.step;
  }

  std::unique_ptr<driver> d;
};

}  // namespace gyre::uring_test
