// tests/loop/guest_loop_test.cpp: a loop that drives the loop of another library.
#include <gyre/loop/guest_loop.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <utility>

using namespace gyre_test;

namespace {

// A guest without work of its own.
class counting_guest : public gyre::guest_loop {
 public:
  int polls = 0;
  int waits = 0;
  bool hands_something_over = false;  // at the next wait, instead of waiting
  gyre::event happened;

  void poll() noexcept override { ++polls; }
  void wait(int descriptor, gyre::io::monotonic_time deadline) noexcept override {
    ++waits;
    if (std::exchange(hands_something_over, false)) return happened.set();
    wait_for_descriptor(descriptor, deadline);
  }
};

class driven {
 public:
  explicit driven(counting_guest& guest) : guest_(guest) { gyre::event_loop::current().drive(guest); }
  driven(const driven&) = delete;
  driven& operator=(const driven&) = delete;
  ~driven() { gyre::event_loop::current().leave(guest_); }

 private:
  counting_guest& guest_;
};

}  // namespace

TEST(guest_loop, is_polled_each_turn_and_waits_when_nothing_is_ready) {
  auto body = []() -> gyre::task<> {
    counting_guest guest;
    const driven here(guest);
    co_await gyre::sleep(1ms);
    EXPECT_GE(guest.waits, 1);
    EXPECT_GE(guest.polls, guest.waits);
  };
  gyre::run(body);
}

TEST(guest_loop, runs_a_task_at_once_that_it_makes_ready_while_it_waits) {
  auto body = []() -> gyre::task<> {
    counting_guest guest;
    const driven here(guest);
    guest.hands_something_over = true;
    co_await guest.happened.wait();
    EXPECT_EQ(guest.waits, 1);
  };
  gyre::run(body);
}

TEST(guest_loop, a_post_from_another_thread_ends_its_wait) {
  auto body = []() -> gyre::task<> {
    counting_guest guest;
    const driven here(guest);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(co_await gyre::to_thread([i] { return i; }), i);
  };
  gyre::run(body);
}

TEST(guest_loop, is_left_alone_after_leave) {
  auto body = []() -> gyre::task<> {
    counting_guest guest;
    {
      const driven here(guest);
    }
    co_await gyre::sleep(1ms);
    EXPECT_EQ(guest.waits, 0);
    EXPECT_EQ(gyre::event_loop::current().guest(), nullptr);
  };
  gyre::run(body);
}

TEST(guest_loop, a_second_one_is_refused) {
  auto body = []() -> gyre::task<> {
    counting_guest first;
    counting_guest second;
    const driven here(first);
    EXPECT_THROW(gyre::event_loop::current().drive(second), std::logic_error);
    gyre::event_loop::current().leave(second);  // no effect
    EXPECT_EQ(gyre::event_loop::current().guest(), &first);
    co_return;
  };
  gyre::run(body);
}

TEST(guest_loop, is_refused_on_virtual_time) {
  run_virtual([]() -> gyre::task<> {
    counting_guest guest;
    EXPECT_THROW(gyre::event_loop::current().drive(guest), std::logic_error);
    co_return;
  });
}
