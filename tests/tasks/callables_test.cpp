// tests/tasks/callables_test.cpp: plain functions are accepted wherever a lambda is.
#include <gyre/tasks/timeout.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

namespace {

gyre::task<int> five() { co_return 5; }
gyre::task<int> too_long() {
  co_await gyre::sleep(1h);
  co_return 0;
}
gyre::task<int> moves_its_deadline(gyre::timeout_scope& scope) {
  scope.reschedule(1min);
  co_await gyre::sleep(1s);
  co_return 6;
}
int began = 0;
gyre::task<> count_child() {
  ++began;
  co_return;
}
gyre::task<> body(gyre::task_group& group) {
  (void)group.spawn(count_child);
  (void)group.spawn(count_child());
  co_return;
}

}  // namespace

TEST(plain_functions, are_accepted_by_timeout_and_wait_for) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await gyre::timeout(1s, five), 5);
    EXPECT_EQ(co_await gyre::timeout(five, 1s), 5);
    EXPECT_EQ(co_await gyre::wait_for(five, 1s), 5);
    EXPECT_EQ(co_await gyre::timeout_at(gyre::now() + 1s, &five), 5);
    EXPECT_EQ(co_await gyre::timeout(1ms, moves_its_deadline), 6);
    const auto begin = gyre::now();
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(1s, too_long)));
    EXPECT_EQ(since(begin), 1s);
  });
}

TEST(plain_functions, are_accepted_by_spawn_shield_and_scope) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(five);
    EXPECT_EQ(co_await handle, 5);
    EXPECT_EQ(co_await gyre::shield(five), 5);
    began = 0;
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(began, 2);
  });
}
