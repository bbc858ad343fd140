// tests/tasks/task_local_test.cpp: values that flow into spawned tasks.
#include <gyre/loop/task_local.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <new>
#include <optional>
#include <string>

using namespace gyre_test;

namespace {

const gyre::task_local<std::string> request_id;
const gyre::task_local<int> depth;

// A plain function, as a logger would be.
std::string current_id() {
  const std::string* const id = request_id.get();
  return id == nullptr ? "none" : *id;
}

gyre::task<std::string> id_after_waiting() {
  co_await gyre::sleep(1ms);
  co_return current_id();
}

}  // namespace

TEST(task_local, is_seen_inside_and_ends_with_its_scope) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(current_id(), "none");
    {
      const auto bound = request_id.bind("42");
      EXPECT_EQ(current_id(), "42");
      EXPECT_EQ(co_await id_after_waiting(), "42");
      {
        const auto inner = request_id.bind("43");
        const auto other = depth.bind(2);
        EXPECT_EQ(co_await id_after_waiting(), "43");
        EXPECT_EQ(*depth.get(), 2);
      }
      EXPECT_EQ(current_id(), "42");
      EXPECT_EQ(depth.get(), nullptr);
    }
    EXPECT_EQ(current_id(), "none");
  });
}

TEST(task_local, flows_into_spawned_tasks_and_outlives_its_scope_there) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::task_handle<std::string>> child;
    {
      const auto bound = request_id.bind("parent");
      child.emplace(gyre::spawn(id_after_waiting()));
    }
    const auto later = request_id.bind("later");
    EXPECT_EQ(co_await *child, "parent");
  });
}

TEST(task_local, is_not_seen_by_parent_and_siblings_when_a_child_binds_it) {
  run_virtual([]() -> gyre::task<> {
    const auto bound = request_id.bind("parent");
    auto binds = []() -> gyre::task<std::string> {
      const auto own = request_id.bind("child");
      co_return co_await id_after_waiting();
    };
    auto both = gyre::gather(binds(), id_after_waiting());
    auto results = co_await std::move(both);
    EXPECT_EQ(results.get<0>(), "child");
    EXPECT_EQ(results.get<1>(), "parent");
    EXPECT_EQ(current_id(), "parent");
  });
}

TEST(task_local, is_given_back_to_the_parent_by_an_eager_child) {
  run_virtual([]() -> gyre::task<> {
    const auto bound = request_id.bind("parent");
    auto body = []() -> gyre::task<std::string> {
      const auto own = request_id.bind("child");
      co_await gyre::yield();
      co_return current_id();
    };
    auto child = gyre::spawn(body, {.eager = true});
    EXPECT_EQ(current_id(), "parent");
    EXPECT_EQ(co_await child, "child");
  });
}

TEST(task_local, leaves_the_bindings_as_they_were_when_a_value_cannot_be_moved) {
  struct fails_to_move {
    fails_to_move() = default;
    fails_to_move(fails_to_move&&) { throw std::bad_alloc(); }
  };
  static const gyre::task_local<std::shared_ptr<int>> number;
  static const gyre::task_local<fails_to_move> failing;
  const auto owned = std::make_shared<int>(1);
  run_virtual([&]() -> gyre::task<> {
    const auto outer = number.bind(owned);
    EXPECT_THROW((void)failing.bind(fails_to_move()), std::bad_alloc);
    EXPECT_EQ(*number.get(), owned);
    EXPECT_EQ(failing.get(), nullptr);
    co_return;
  });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(task_local, is_not_there_outside_of_tasks) { EXPECT_EQ(request_id.get(), nullptr); }

TEST(task_local_death, binding_outside_of_a_task_stops_the_program) {
  EXPECT_DEATH({ const auto bound = depth.bind(1); }, "outside of a task");
}

TEST(task_local_death, a_binding_that_ends_before_a_later_one_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto* const outer = new auto(request_id.bind("1"));
                 const auto inner = request_id.bind("2");
                 delete outer;
                 co_return;
               }),
               "reverse order");
}
