// tests/runtime/loops_stress_scene.hpp: what tasks of several loops share that call each other, and its accounts.
#pragma once

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include "tests/support/seeds.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace gyre_test {

/// What the tasks of all loops have done. Used by all threads.
struct ledger {
  std::atomic<long> made = 0;
  std::atomic<long> destroyed = 0;
  std::atomic<long> counted = 0;  // in the values of the loops
  std::atomic<long> sent = 0;
  std::atomic<long> received = 0;
  std::atomic<long> clean_ups_due = 0;
  std::atomic<long> clean_ups_done = 0;

  std::mutex lock;
  std::string first_mistake;
  void mistake(const std::string& what) {
    const std::scoped_lock locked(lock);
    if (first_mistake.empty()) first_mistake = what;
  }
  void expect(bool right, const char* what) {
    if (!right) mistake(what);
  }
};

/// A value that is counted.
struct counted {
  counted(ledger& in, unsigned number) : book(&in), value(number) { ++book->made; }
  counted(const counted& other) noexcept : book(other.book), value(other.value) { ++book->made; }
  counted& operator=(const counted&) = default;
  ~counted() { ++book->destroyed; }
  ledger* book;
  unsigned value;
};

struct expected_failure : std::exception {
  expected_failure(ledger& book, unsigned number) : id(book, number) {}
  counted id;
};

/// A value of each loop. Its destructor adds it to the sum.
struct tally {
  tally() = default;
  tally(tally&& other) noexcept : uses(other.uses), book(std::exchange(other.book, nullptr)) {}
  tally& operator=(tally&&) = delete;
  ~tally() {
    if (book != nullptr) book->counted -= uses;
  }
  long uses = 0;
  ledger* book = nullptr;
};
inline const gyre::loop_local<tally> tallies;

struct scene {
  ledger book;
  gyre::shared_channel<counted> channel{4};
  gyre::loop_group* loops = nullptr;

  gyre::event_loop& any_loop(choices& choose) { return (*loops)[choose.below(loops->size())]; }
  void use_tally() {
    tally& own = *tallies;
    own.book = &book;
    ++own.uses;
    ++book.counted;
  }
};

/// True on the thread of `loop`.
inline bool runs_on(const gyre::event_loop& loop) { return gyre::event_loop::current_or_null() == &loop; }

/// Set while a task runs on another loop.
using running_flag = std::shared_ptr<std::atomic<bool>>;
inline running_flag make_flag() { return std::make_shared<std::atomic<bool>>(false); }

struct running_guard {
  explicit running_guard(running_flag set) : flag(std::move(set)) { *flag = true; }
  running_guard& operator=(running_guard&&) = delete;
  ~running_guard() { *flag = false; }
  running_flag flag;
};

inline gyre::task<counted> sleeper(scene& s, running_flag flag, std::chrono::microseconds time, unsigned number) {
  const running_guard guard(std::move(flag));
  const counted in_frame(s.book, 0);
  co_await gyre::sleep(time);
  co_return counted(s.book, number);
}

inline std::chrono::microseconds short_time(choices& choose) { return std::chrono::microseconds(choose.below(300)); }

inline void note_background_failure(const gyre::background_failure& failure, void* argument) noexcept {
  ledger& book = *static_cast<ledger*>(argument);
  try {
    std::rethrow_exception(failure.exception);
  } catch (const std::exception& error) {
    book.mistake("in the background failed " + std::string(failure.task_name) + ": " + error.what());
  } catch (...) {  // reported here
    book.mistake("in the background failed a task with an unknown exception");
  }
}

inline void check(scene& s) {
  while (s.channel.try_receive()) ++s.book.received;
  EXPECT_EQ(s.book.first_mistake, "");
  EXPECT_EQ(s.book.made, s.book.destroyed) << "values were lost or destroyed twice";
  EXPECT_EQ(s.book.counted, 0) << "a value of a loop has lost something, or was not destroyed";
  EXPECT_EQ(s.book.clean_ups_due, s.book.clean_ups_done);
  EXPECT_EQ(s.book.sent, s.book.received);
}

}  // namespace gyre_test
