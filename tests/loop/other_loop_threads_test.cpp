// tests/loop/other_loop_threads_test.cpp: a loop that another thread uses without a door.
#include <gyre/loop/event_loop.hpp>

#include "tests/support/two_loops.hpp"

#include <thread>

using namespace gyre_test;
using gyre::event_loop;

namespace {

/// Calls `use(loop)` on a thread without a loop.
template <class Use>
void use_on_thread(Use use) {
  event_loop loop;
  std::thread([&] { use(loop); }).join();
}

class other_loop_event_loop_death : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }  // the stopped program starts threads
};

}  // namespace

TEST_F(other_loop_event_loop_death, a_loop_that_another_thread_ends) {
  EXPECT_DEATH(use_on_thread([](event_loop& loop) { loop.shutdown(); }), elsewhere("shutdown", "an event_loop"));
}

TEST_F(other_loop_event_loop_death, a_loop_that_another_thread_turns) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  EXPECT_DEATH(use_on_thread([](event_loop& loop) { loop.turn(false); }), elsewhere("turn", "an event_loop"));
  EXPECT_DEATH(use_on_thread([](event_loop& loop) { (void)loop.turn_in_host(); }),
               elsewhere("turn_in_host", "an event_loop"));
}

TEST_F(other_loop_event_loop_death, a_loop_that_another_thread_changes) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto set = [](event_loop& loop) { loop.set_exception_handler(nullptr, nullptr); };
  EXPECT_DEATH(use_on_thread(set), elsewhere("set_exception_handler", "an event_loop"));
  gyre::io::completion item;
  const auto schedule = [&](event_loop& loop) { loop.schedule(item); };
  EXPECT_DEATH(use_on_thread(schedule), elsewhere("schedule", "an event_loop"));
}
