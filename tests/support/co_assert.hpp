// tests/support/co_assert.hpp: GoogleTest's ASSERT_* for coroutines, with `co_return` in place of `return`.
#pragma once

#include <gtest/gtest.h>

#define CO_ASSERT_RESULT(expression)                                      \
  switch (0)                                                              \
  case 0:                                                                 \
  default:                                                                \
    if (const ::testing::AssertionResult co_assert_result = (expression)) \
      ;                                                                   \
    else {                                                                \
      ADD_FAILURE() << co_assert_result.message();                        \
      co_return;                                                          \
    }

/// The test's coroutine must return task<>. The condition must not contain a co_await.
#define CO_ASSERT_TRUE(condition)                              \
  CO_ASSERT_RESULT((condition) ? ::testing::AssertionSuccess() \
                               : ::testing::AssertionFailure() << "not true: " #condition)
#define CO_ASSERT_FALSE(condition) CO_ASSERT_TRUE(!(condition))
#define CO_ASSERT_EQ(a, b) CO_ASSERT_RESULT(::testing::internal::EqHelper::Compare(#a, #b, a, b))
