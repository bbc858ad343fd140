// tests/tasks/references_test.cpp: everything that takes a task takes one that gives a reference.
#include "tests/support/co_assert.hpp"
#include "tests/support/virtual_run.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

using namespace gyre_test;

namespace {

/// Must not be copied on the way.
struct table {
  explicit table(int n) : rows(n) {}
  table& operator=(table&&) = delete;
  int rows;
};

gyre::task<table&> find_now(table& t) { co_return t; }
gyre::task<const table&> look_at(const table& t) { co_return t; }
gyre::task<table&> find_later(table& t) {
  co_await gyre::sleep(1ms);
  co_return t;
}
gyre::task<table&> find_nothing() {
  throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory));
  co_return *static_cast<table*>(nullptr);
}
template <class... Args>
std::vector<gyre::task<table&>> find_all(Args&... tables) {
  std::vector<gyre::task<table&>> all;
  (all.push_back(find_now(tables)), ...);
  return all;
}

}  // namespace

TEST(reference_to, converts_to_the_reference_and_to_the_standard_wrapper) {
  table one(1);
  table two(2);
  gyre::reference_to<table> held = one;
  table& same = held;
  EXPECT_EQ(&same, &one);
  EXPECT_EQ(held->rows + (*held).rows + held.get().rows, 3);
  const std::reference_wrapper<table> wrapped = held;
  EXPECT_EQ(&wrapped.get(), &one);
  held = two;
  EXPECT_EQ(&held.get(), &two);
  static_assert(!std::is_constructible_v<gyre::reference_to<table>, table>, "a temporary would be gone");
  static_assert(std::is_same_v<gyre::storable<table&>, gyre::reference_to<table>>);
  static_assert(std::is_same_v<gyre::restored<gyre::storable<table&>>, table&>);
  static_assert(std::is_void_v<gyre::storable<void>> && std::is_void_v<gyre::restored<void>>);
}

TEST(task_of_a_reference, is_held_by_as_result_and_as_expected) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    std::expected<gyre::reference_to<table>, std::exception_ptr> result = co_await gyre::as_result(find_now(t));
    table& found = *result;
    EXPECT_EQ(&found, &t);
    const auto read_only = co_await gyre::as_result(look_at(t));
    EXPECT_EQ(&read_only->get(), &t);
    EXPECT_FALSE((co_await gyre::as_result(find_nothing())).has_value());
    EXPECT_EQ(&(co_await gyre::as_expected(find_now(t)))->get(), &t);
    EXPECT_EQ((co_await gyre::as_expected(find_nothing())).error(), std::errc::no_such_file_or_directory);
    auto running = gyre::spawn(find_now(t));
    EXPECT_EQ(&(co_await gyre::as_expected(running)).value().get(), &t);
  });
}

TEST(task_of_a_reference, is_returned_by_gather) {
  run_virtual([]() -> gyre::task<> {
    table one(1);
    table two(2);
    auto calls = gyre::gather(find_now(one), look_at(two), value_after(0ms, 3));
    const auto all = co_await std::move(calls);
    table& first = all.get<0>();
    const table& second = all.get<1>();
    EXPECT_EQ(&first, &one);
    EXPECT_EQ(&second, &two);
    EXPECT_EQ(all.get<2>(), 3);
    auto many = gyre::gather(find_all(one, two));
    const std::vector<gyre::reference_to<table>> found = co_await std::move(many);
    CO_ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(&found[0].get(), &one);
    EXPECT_EQ(&found[1].get(), &two);
  });
}

TEST(task_of_a_reference, is_returned_by_race) {
  run_virtual([]() -> gyre::task<> {
    table one(1);
    table two(2);
    auto same_types = gyre::race(find_later(one), find_now(two));
    const auto first = co_await std::move(same_types);
    table& winner = first.value;
    EXPECT_EQ(&winner, &two);
    auto different_types = gyre::race(value_after(1ms, 3), find_now(two));
    const auto either = co_await std::move(different_types);
    EXPECT_EQ(&std::get<gyre::reference_to<table>>(either.value).get(), &two);
    auto many = gyre::race(find_all(one, two));
    EXPECT_EQ(&(co_await std::move(many)).value, &one);
  });
}

TEST(task_of_a_reference, is_returned_by_first_n) {
  run_virtual([]() -> gyre::task<> {
    table one(1);
    table two(2);
    auto some = gyre::first_n(2, find_all(one, two));
    const auto found = co_await std::move(some);
    CO_ASSERT_EQ(found.size(), 2U);
    table& second = found[1].value;
    EXPECT_EQ(&second, &two);
  });
}

TEST(task_of_a_reference, is_given_to_every_await_by_its_handle) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    auto running = gyre::spawn(find_later(t));
    EXPECT_EQ(&co_await running, &t);
    EXPECT_EQ(&co_await running, &t);
    EXPECT_EQ(&running.result(), &t);
    co_await gyre::task_group::scope([&](gyre::task_group& group) -> gyre::task<> {
      auto child = group.spawn(find_now(t));
      EXPECT_EQ(&co_await child, &t);
    });
  });
}

TEST(task_of_a_reference, has_handles_for_wait_and_as_completed) {
  run_virtual([]() -> gyre::task<> {
    table one(1);
    table two(2);
    std::vector<gyre::task_handle<table&>> handles;
    handles.push_back(gyre::spawn(find_later(one)));
    handles.push_back(gyre::spawn(find_now(two)));
    const auto ended = co_await gyre::wait(handles, gyre::wait_until::first_completed);
    EXPECT_EQ(ended.done, std::vector<std::size_t>{1});
    auto order = gyre::as_completed(handles);
    auto* const first = co_await order.next();
    CO_ASSERT_TRUE(first != nullptr);
    EXPECT_EQ(&co_await *first, &two);
    auto* const second = co_await order.next();
    CO_ASSERT_TRUE(second != nullptr);
    EXPECT_EQ(&co_await *second, &one);
  });
}

TEST(task_of_a_reference, is_given_to_every_await_by_shared_task) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    const gyre::shared_task<table&> shared(find_now(t));
    table& first = co_await shared;
    table& second = co_await shared;
    EXPECT_EQ(&first, &t);
    EXPECT_EQ(&second, &t);
  });
}

TEST(task_of_a_reference, is_returned_by_timeout_wait_for_and_shield) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    EXPECT_EQ(&co_await gyre::timeout(1s, find_later(t)), &t);
    EXPECT_EQ(&co_await gyre::timeout_at(gyre::now() + 1s, find_later(t)), &t);
    EXPECT_EQ(&co_await gyre::wait_for(find_later(t), 1s), &t);
    auto running = gyre::spawn(find_later(t));
    EXPECT_EQ(&co_await gyre::timeout(1s, running), &t);
    EXPECT_EQ(&co_await gyre::shield(find_later(t)), &t);
    const auto limited = [&]() -> gyre::task<table&> { co_return co_await find_later(t); };
    EXPECT_EQ(&co_await gyre::timeout(1s, limited), &t);
    EXPECT_EQ(&co_await gyre::shield(limited), &t);
  });
}

TEST(task_of_a_reference, is_ignored_by_for_each_concurrent) {
  run_virtual([]() -> gyre::task<> {
    table t(0);
    const auto count = [&](int) -> gyre::task<table&> {
      ++t.rows;
      co_return t;
    };
    std::vector<int> numbers{1, 2, 3};
    co_await gyre::for_each_concurrent(numbers, 2, count);
    EXPECT_EQ(t.rows, 3);
  });
}

TEST(task_of_a_reference, is_passed_to_the_callback_of_spawn_then) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    table* passed = nullptr;
    const auto done = [&](std::expected<gyre::reference_to<table>, std::exception_ptr> outcome) {
      if (outcome) passed = &outcome->get();
    };
    gyre::spawn_then(find_now(t), done);
    co_await gyre::sleep(1ms);
    EXPECT_EQ(passed, &t);
  });
}

TEST(task_of_a_reference, is_passed_on_by_from_callback) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    const auto call = [&](const gyre::awaited_callback<table&>& done) { done(t); };
    table& passed = co_await gyre::from_callback<table&>(call);
    EXPECT_EQ(&passed, &t);
    EXPECT_EQ(&co_await gyre::timeout(1s, gyre::from_callback<table&>(call)), &t);
    EXPECT_EQ(&(co_await gyre::as_expected(gyre::from_callback<table&>(call)))->get(), &t);
  });
}

TEST(task_of_a_reference, is_returned_by_as_task_and_run) {
  table t(1);
  EXPECT_EQ(&gyre::run(find_now(t)), &t);
  EXPECT_EQ(&gyre::testing::run_test(find_now(t)), &t);
  run_virtual([&]() -> gyre::task<> {
    EXPECT_EQ(&co_await gyre::as_task(gyre::spawn(find_now(t))), &t);
    EXPECT_EQ(&co_await gyre::as_task(gyre::shared_task<table&>(find_now(t))), &t);
  });
}

TEST(task_of_a_reference_threads, is_returned_by_on_and_spawn_on) {
  const auto body = []() -> gyre::task<> {
    table t(1);
    gyre::event_loop& other = (*gyre::event_loop::current().group())[1];
    const auto plain = [&]() -> table& { return t; };
    const auto coroutine = [&]() -> gyre::task<table&> { co_return t; };
    table& from_a_function = co_await gyre::on(other, plain);
    table& from_a_task = co_await gyre::on(other, coroutine);
    EXPECT_EQ(&from_a_function, &t);
    EXPECT_EQ(&from_a_task, &t);
    EXPECT_EQ(&co_await gyre::on(gyre::event_loop::current(), plain), &t);
    auto running = gyre::spawn_on(other, plain);
    EXPECT_EQ(&co_await running, &t);
  };
  gyre::run(body, {.threads = 2});
}

TEST(task_of_a_reference_threads, is_returned_for_each_loop_by_for_each_loop) {
  const auto body = []() -> gyre::task<> {
    table t(1);
    const auto plain = [&]() -> table& { return t; };
    const auto coroutine = [&]() -> gyre::task<table&> { co_return t; };
    const std::vector<gyre::reference_to<table>> all = co_await gyre::for_each_loop(plain);
    CO_ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(&all[1].get(), &t);
    EXPECT_EQ(&(co_await gyre::for_each_loop(coroutine))[1].get(), &t);
  };
  gyre::run(body, {.threads = 2});
}

TEST(task_of_a_reference_threads, is_returned_by_to_thread_and_via) {
  run_virtual([]() -> gyre::task<> {
    table t(1);
    const auto function = [&]() -> table& { return t; };
    table& from_a_thread = co_await gyre::to_thread(function);
    EXPECT_EQ(&from_a_thread, &t);
    gyre::thread_pool pool(1);
    EXPECT_EQ(&co_await gyre::to_thread(pool, function), &t);
    const auto executor = [](auto work) { std::thread(std::move(work)).join(); };
    table& from_an_executor = co_await gyre::via(executor, function);
    EXPECT_EQ(&from_an_executor, &t);
  });
}

TEST(task_of_a_reference_threads, is_returned_by_run_coroutine_threadsafe_and_blocking_run) {
  table t(1);
  const auto body = [&]() -> gyre::task<> {
    gyre::event_loop& here = gyre::event_loop::current();
    const auto call = [&] {
      auto running = gyre::run_coroutine_threadsafe(here, find_later(t));
      EXPECT_EQ(&running.get(), &t);
      EXPECT_EQ(&running.get(), &t);
      EXPECT_EQ(&gyre::blocking_run(here, find_later(t)), &t);
    };
    co_await gyre::to_thread(call);
  };
  gyre::run(body);
}
