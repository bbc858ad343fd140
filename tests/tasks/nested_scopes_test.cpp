// tests/tasks/nested_scopes_test.cpp: the start of a scope costs the same at every depth, in debug builds too.
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/loop/operation.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

namespace {

// With a walk up the scopes at each start, every test here took minutes in a debug build.
constexpr int scopes_deep = 50'000;

gyre::task<int> nested_timeouts(int levels) {
  if (levels == 0) co_return 0;
  co_return 1 + co_await gyre::timeout(1h, nested_timeouts(levels - 1));
}

gyre::task<int> nested_groups(int levels) {
  int below = 0;
  const auto body = [&](gyre::task_group& group) -> gyre::task<> {
    auto child = group.spawn(nested_groups(levels - 1));
    below = 1 + co_await child;
  };
  if (levels > 0) co_await gyre::task_group::scope(body);
  co_return below;
}

gyre::task<int> nested_gathers(int levels) {
  if (levels == 0) co_return 0;
  auto inner = gyre::gather(nested_gathers(levels - 1));
  co_return 1 + (co_await std::move(inner)).get<0>();
}

gyre::task<int> nested_sleeps(int levels) {
  if (levels == 0) co_return 0;
  gyre::cancel_scope scope;
  scope.open(co_await gyre::this_task_context{});
  co_await gyre::sleep(1ns);  // is woken below all scopes
  co_return 1 + co_await nested_sleeps(levels - 1);
}

/// A task whose loop is the running one, whatever the scopes above it say. Counts the questions.
struct asked_task : gyre::task_context {
  static const gyre::cancel_scope* answer(const gyre::task_context& asked) noexcept {
    ++static_cast<const asked_task&>(asked).questions;
    return &gyre::event_loop::current().root_scope();
  }
  static constexpr gyre::task_kind asked_kind{
      [](gyre::task_context&) noexcept {},
      [](const gyre::task_context&) noexcept { return gyre::task_description{"asked", 5, {}, 0}; }, &answer};
  asked_task() noexcept { kind = &asked_kind; }

  mutable int questions = 0;
};

}  // namespace

TEST(nested_scopes, time_outs_open_at_any_depth) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await nested_timeouts(scopes_deep), scopes_deep); });
}

TEST(nested_scopes, groups_open_at_any_depth) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await nested_groups(scopes_deep), scopes_deep); });
}

TEST(nested_scopes, gathers_open_at_any_depth) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await nested_gathers(scopes_deep), scopes_deep); });
}

TEST(nested_scopes, tasks_are_woken_at_any_depth) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await nested_sleeps(scopes_deep), scopes_deep); });
}

TEST(nested_scopes, a_check_asks_the_task_instead_of_walking_up_the_scopes) {
  run_virtual([]() -> gyre::task<> {
    gyre::cancel_scope elsewhere;  // the top of the walk: no loop's
    asked_task task;
    gyre::cancel_scope outer;
    outer.open(task, &elsewhere);
    gyre::cancel_scope inner;
    inner.open(task);
    gyre::expect_scope_on_own_loop(inner, "waiting", "a scope");
    gyre::check_woken_on_own_loop(task);
    EXPECT_EQ(task.questions, 2);
    inner.close();
    outer.close();
    co_return;
  });
}
