// tests/coro/cancel_scope_test.cpp: the tree of scopes, without a loop.
#include <gyre/coro/cancel_scope.hpp>

#include "tests/coro/leaf.hpp"

#include <gtest/gtest.h>

using gyre_test::leaf;

TEST(cancel_scope, cancelling_reaches_the_operation_that_the_task_is_suspended_in) {
  gyre::task_context task;
  leaf suspended;
  gyre::cancel_scope scope;
  scope.open(task);
  task.leaf = &suspended;
  scope.cancel();
  EXPECT_EQ(suspended.cancels, 1);
  EXPECT_TRUE(task.cancel_pending);
}

TEST(cancel_scope, a_scope_opened_inside_a_cancelled_one_is_cancelled_from_the_start) {
  gyre::task_context task;
  gyre::cancel_scope outer;
  outer.open(task);
  outer.cancel();
  gyre::cancel_scope inner;
  inner.open(task);
  EXPECT_TRUE(inner.cancelled());
  EXPECT_EQ(inner.cancel_requests(), 0U);
  EXPECT_TRUE(task.cancel_pending);
}

TEST(cancel_scope, cancelling_an_outer_scope_cancels_the_leaf_once) {
  gyre::task_context task;
  leaf suspended;
  gyre::cancel_scope outer;
  gyre::cancel_scope inner;
  outer.open(task);
  inner.open(task);
  task.leaf = &suspended;
  outer.cancel();
  outer.cancel();
  EXPECT_EQ(suspended.cancels, 1);
  EXPECT_TRUE(inner.cancelled());
}

TEST(cancel_scope, cancelling_an_inner_scope_leaves_the_outer_alone) {
  gyre::task_context task;
  gyre::cancel_scope outer;
  gyre::cancel_scope inner;
  outer.open(task);
  inner.open(task);
  inner.cancel();
  EXPECT_TRUE(task.cancel_pending);
  EXPECT_TRUE(inner.absorbs_cancel());
  inner.close();
  EXPECT_FALSE(task.cancel_pending);
}

TEST(cancel_scope, a_shield_stops_what_comes_from_outside) {
  gyre::task_context task;
  leaf suspended;
  gyre::cancel_scope outer;
  gyre::cancel_scope shield(gyre::shielding::shielded);
  outer.open(task);
  shield.open(task);
  task.leaf = &suspended;
  outer.cancel();
  EXPECT_EQ(suspended.cancels, 0);
  EXPECT_FALSE(task.cancel_pending);
  shield.close();
  EXPECT_TRUE(task.cancel_pending);
}

TEST(cancel_scope, tasks_below_a_scope_are_cancelled_with_it) {
  gyre::cancel_scope root;
  gyre::task_context tasks[3];
  leaf leaves[3];
  gyre::cancel_scope scopes[3];
  for (int i = 0; i < 3; ++i) {
    scopes[i].open(tasks[i], i == 2 ? &scopes[1] : &root);
    tasks[i].leaf = &leaves[i];
  }
  root.cancel();
  for (const leaf& each : leaves) EXPECT_EQ(each.cancels, 1);
}

TEST(cancel_scope, a_cancel_from_outside_is_not_absorbed) {
  gyre::task_context task;
  gyre::cancel_scope outer;
  gyre::cancel_scope inner;
  outer.open(task);
  inner.open(task);
  inner.cancel();
  outer.cancel();
  EXPECT_FALSE(inner.absorbs_cancel());
  EXPECT_TRUE(outer.absorbs_cancel());
}

TEST(cancel_scope, a_nesting_deeper_than_the_stack_is_cancelled) {
  constexpr std::size_t depth = 200'000;
  gyre::task_context task;
  std::vector<gyre::cancel_scope> scopes(depth);
  for (gyre::cancel_scope& each : scopes) each.open(task);
  scopes.front().cancel();
  EXPECT_TRUE(scopes.back().cancelled());
  while (!scopes.empty()) scopes.pop_back();
}

TEST(cancel_scope_death, closed_before_a_scope_inside_it_stops_the_program) {
  EXPECT_DEATH(
      {
        gyre::task_context task;
        gyre::cancel_scope outer;
        gyre::cancel_scope inner;
        outer.open(task);
        inner.open(task);
        outer.close();
      },
      "still open");
}
