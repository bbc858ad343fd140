// tests/coro/exception_group_test.cpp: nothing, a single failure unchanged, or several as a group.
#include <gyre/coro/exception_group.hpp>

#include <gyre/coro/cancelled.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::exception_ptr failure(const char* what) { return std::make_exception_ptr(std::runtime_error(what)); }

std::string message(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "?";
  }
}

/// Adds failures to a collector, and gives the group that it throws.
gyre::exception_group group_of(std::initializer_list<std::exception_ptr> failures) {
  gyre::exception_collector collector;
  for (const std::exception_ptr& each : failures) EXPECT_TRUE(collector.add(each));
  try {
    collector.rethrow();
  } catch (const gyre::exception_group& group) {
    EXPECT_TRUE(collector.empty());
    return group;
  }
  throw std::logic_error("no group was thrown");
}

}  // namespace

TEST(exception_collector, throws_nothing_when_nothing_was_added) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.empty());
  EXPECT_NO_THROW(collector.rethrow());
}

TEST(exception_collector, throws_a_single_failure_as_what_it_is) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(std::make_exception_ptr(std::out_of_range("one"))));
  EXPECT_FALSE(collector.empty());
  EXPECT_THROW(collector.rethrow(), std::out_of_range);
  EXPECT_TRUE(collector.empty());
  EXPECT_NO_THROW(collector.rethrow());
}

TEST(exception_collector, throws_several_as_a_group_in_the_order_in_which_they_came) {
  const gyre::exception_group group = group_of({failure("a"), failure("b"), failure("c")});
  std::vector<std::string> messages;
  for (const std::exception_ptr& each : group) messages.push_back(message(each));
  EXPECT_EQ(messages, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(group.size(), 3U);
  EXPECT_STREQ(group.what(), "3 tasks failed: a; b; c");
}

TEST(exception_collector, can_be_used_again_after_it_has_thrown) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(failure("a")));
  EXPECT_TRUE(collector.add(failure("b")));
  EXPECT_THROW(collector.rethrow(), gyre::exception_group);
  EXPECT_TRUE(collector.add(failure("c")));
  EXPECT_THROW(collector.rethrow(), std::runtime_error);
}

TEST(exception_collector, describes_an_exception_that_is_not_of_the_standard_library) {
  const auto group = group_of({std::make_exception_ptr(42), std::make_exception_ptr(gyre::cancelled{})});
  EXPECT_STREQ(group.what(), "2 tasks failed: exception of unknown type; cancelled");
}

// Only a sanitizer reports a failure that is not freed.
TEST(exception_collector, that_is_dropped_with_failures_frees_them) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(failure("a")));
  EXPECT_TRUE(collector.add(failure("b")));
}

TEST(exception_group, has_copies_that_share_the_failures_and_outlive_the_original) {
  std::optional<gyre::exception_group> copy(group_of({failure("x"), failure("y")}));
  std::optional<gyre::exception_group> second(group_of({failure("x"), failure("y")}));
  EXPECT_EQ(copy->size(), 2U);
  EXPECT_STREQ(copy->what(), "2 tasks failed: x; y");
  *copy = *second;
  EXPECT_EQ(copy->begin(), second->begin());
  second.reset();
  EXPECT_EQ(message(*copy->begin()), "x");
}

TEST(exception_group, may_contain_groups) {
  const auto inner = std::make_exception_ptr(group_of({failure("x"), failure("y")}));
  const gyre::exception_group outer = group_of({inner, failure("z")});
  EXPECT_EQ(outer.size(), 2U);
  EXPECT_STREQ(outer.what(), "2 tasks failed: 2 tasks failed: x; y; z");
}
