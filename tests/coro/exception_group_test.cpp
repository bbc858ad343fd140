// tests/coro/exception_group_test.cpp: nothing, a single failure unchanged, or several as a group.
#include <gyre/coro/exception_group.hpp>

#include <gyre/coro/cancelled.hpp>

#include <gtest/gtest.h>

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
  gyre::exception_collector collector;
  for (const char* what : {"a", "b", "c"}) EXPECT_TRUE(collector.add(failure(what)));
  std::vector<std::string> messages;
  std::string text;
  try {
    collector.rethrow();
  } catch (const gyre::exception_group& group) {
    for (const std::exception_ptr& each : group) messages.push_back(message(each));
    text = group.what();
    EXPECT_EQ(group.size(), 3U);
  }
  EXPECT_EQ(messages, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(text, "3 tasks failed: a; b; c");
  EXPECT_TRUE(collector.empty());
}

TEST(exception_collector, can_be_used_again_after_it_has_thrown) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(failure("a")));
  EXPECT_TRUE(collector.add(failure("b")));
  EXPECT_THROW(collector.rethrow(), gyre::exception_group);
  EXPECT_TRUE(collector.add(failure("c")));
  EXPECT_THROW(collector.rethrow(), std::runtime_error);
}

TEST(exception_collector, describes_what_is_no_std_exception) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(std::make_exception_ptr(42)));
  EXPECT_TRUE(collector.add(std::make_exception_ptr(gyre::cancelled{})));
  try {
    collector.rethrow();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "2 tasks failed: exception of unknown type; cancelled");
  }
}

// Only a sanitizer reports a failure that is not freed.
TEST(exception_collector, that_is_dropped_with_failures_frees_them) {
  gyre::exception_collector collector;
  EXPECT_TRUE(collector.add(failure("a")));
  EXPECT_TRUE(collector.add(failure("b")));
}

TEST(exception_group, copies_share_the_failures_and_outlive_the_original) {
  std::optional<gyre::exception_group> copy;
  std::optional<gyre::exception_group> second;
  for (auto* target : {&copy, &second}) {
    gyre::exception_collector collector;
    EXPECT_TRUE(collector.add(failure("x")));
    EXPECT_TRUE(collector.add(failure("y")));
    try {
      collector.rethrow();
    } catch (const gyre::exception_group& group) {
      target->emplace(group);
    }
  }
  EXPECT_EQ(copy->size(), 2U);
  EXPECT_STREQ(copy->what(), "2 tasks failed: x; y");
  *copy = *second;
  EXPECT_EQ(copy->begin(), second->begin());
  second.reset();
  EXPECT_EQ(message(*copy->begin()), "x");
}

TEST(exception_group, may_contain_groups) {
  gyre::exception_collector inner;
  EXPECT_TRUE(inner.add(failure("x")));
  EXPECT_TRUE(inner.add(failure("y")));
  gyre::exception_collector outer;
  try {
    inner.rethrow();
  } catch (...) {
    EXPECT_TRUE(outer.add(std::current_exception()));
  }
  EXPECT_TRUE(outer.add(failure("z")));
  try {
    outer.rethrow();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const gyre::exception_group& group) {
    EXPECT_EQ(group.size(), 2U);
    EXPECT_STREQ(group.what(), "2 tasks failed: 2 tasks failed: x; y; z");
  }
}
