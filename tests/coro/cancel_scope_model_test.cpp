// tests/coro/cancel_scope_model_test.cpp: random trees of scopes against a model that walks from the leaves up.
#include <gyre/coro/cancel_scope.hpp>

#include "tests/coro/leaf.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

using gyre_test::leaf;

namespace {

struct node {
  node(node* above, bool is_shielded)
      : scope(is_shielded ? gyre::shielding::shielded : gyre::shielding::none), parent(above), shielded(is_shielded) {}
  gyre::cancel_scope scope;
  node* parent;
  bool shielded;
  unsigned requests = 0;

  /// The expected result by definition: cancelled itself, or by a scope above without a shield between them.
  [[nodiscard]] bool cancelled() const {
    if (requests > 0) return true;
    return !shielded && parent != nullptr && parent->cancelled();
  }
};

struct running_task {
  gyre::task_context context;
  leaf suspended;
  std::vector<std::unique_ptr<node>> open;  // the task's stack of scopes
};

}  // namespace

TEST(cancel_scope, agrees_with_a_model_over_random_trees_of_tasks_and_scopes) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    node root(nullptr, false);
    std::vector<std::unique_ptr<running_task>> tasks;
    const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    for (int step = 0; step < 60; ++step) {
      if (tasks.empty() || random() % 4 == 0) {  // a new task below the root or below a scope of another task
        node* parent = &root;
        if (!tasks.empty() && random() % 3 != 0) parent = tasks[any(tasks.size())]->open.back().get();
        auto task = std::make_unique<running_task>();
        auto scope = std::make_unique<node>(parent, false);
        scope->scope.open(task->context, &parent->scope);
        task->context.leaf = &task->suspended;
        task->open.push_back(std::move(scope));
        tasks.push_back(std::move(task));
      } else {
        running_task& task = *tasks[any(tasks.size())];
        node* const innermost = task.open.back().get();
        switch (random() % 5) {
          case 0:
          case 1:
            task.open.push_back(std::make_unique<node>(innermost, random() % 3 == 0));
            task.open.back()->scope.open(task.context);
            break;
          case 2:
            if (task.open.size() > 1 && innermost->scope.first_child() == nullptr) task.open.pop_back();
            break;
          case 3: {  // uncancel does not notify anybody
            node& target = *task.open[any(task.open.size())];
            if (target.requests > 0) --target.requests;
            target.scope.uncancel();
            break;
          }
          default: {
            node& target = *task.open[any(task.open.size())];
            std::vector<int> expected;
            for (const auto& each : tasks) expected.push_back(each->suspended.cancels - each->context.cancel_pending);
            ++target.requests;
            target.scope.cancel();
            // Every newly cancelled task is notified exactly once, and no other task.
            for (std::size_t i = 0; i < tasks.size(); ++i)
              ASSERT_EQ(tasks[i]->suspended.cancels - tasks[i]->context.cancel_pending, expected[i]);
          }
        }
      }
      for (const auto& task : tasks) {
        for (const auto& scope : task->open) {
          ASSERT_EQ(scope->scope.cancelled(), scope->cancelled()) << "seed " << seed << " step " << step;
          ASSERT_EQ(scope->scope.cancel_requests(), scope->requests);
        }
        ASSERT_EQ(task->context.cancel_pending, task->open.back()->cancelled()) << "seed " << seed << " step " << step;
        ASSERT_EQ(task->context.scope, &task->open.back()->scope);
      }
    }
    while (!tasks.empty()) {  // children first
      auto& task = tasks.back();
      while (!task->open.empty()) task->open.pop_back();
      tasks.pop_back();
    }
  }
}

TEST(cancel_scope, closing_any_child_leaves_its_siblings_in_the_tree) {
  for (std::size_t closed = 0; closed < 5; ++closed) {
    gyre::cancel_scope parent;
    gyre::task_context tasks[5];
    std::vector<std::unique_ptr<gyre::cancel_scope>> children;
    for (gyre::task_context& each : tasks) {
      children.push_back(std::make_unique<gyre::cancel_scope>());
      children.back()->open(each, &parent);
    }
    children[closed]->close();
    children[closed]->close();
    std::size_t left = 0;
    for (const gyre::cancel_scope* each = parent.first_child(); each != nullptr; each = each->next_sibling()) ++left;
    EXPECT_EQ(left, 4U);
    parent.cancel();
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(children[i]->cancelled(), i != closed);
  }
}

TEST(cancel_scope, a_task_below_a_shield_is_reached_by_the_shield_only) {
  gyre::cancel_scope root;
  gyre::cancel_scope shield(gyre::shielding::shielded);
  shield.attach(&root);
  gyre::task_context task;
  gyre::cancel_scope scope;
  scope.open(task, &shield);
  root.cancel();
  EXPECT_FALSE(scope.cancelled());
  shield.cancel();
  EXPECT_TRUE(scope.cancelled());
  EXPECT_TRUE(task.cancel_pending);
}

TEST(cancel_scope, a_shield_opened_inside_a_cancelled_scope_is_not_cancelled) {
  gyre::task_context task;
  gyre::cancel_scope outer;
  outer.open(task);
  outer.cancel();
  gyre::cancel_scope shield(gyre::shielding::shielded);
  shield.open(task);
  EXPECT_FALSE(shield.cancelled());
  EXPECT_FALSE(task.cancel_pending);
  gyre::cancel_scope inner;
  inner.open(task);
  EXPECT_FALSE(inner.cancelled());
  inner.close();
  shield.close();
  EXPECT_TRUE(task.cancel_pending);
}
