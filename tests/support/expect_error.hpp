// tests/support/expect_error.hpp: an operation that fails with a given message, or with a time-out.
#pragma once

#include <gyre/io/io_error.hpp>

#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <utility>

namespace gyre_test {

/// Expects that the await throws an exception with this message.
template <class Awaitable>
gyre::task<> expect_error(Awaitable awaitable, std::string message,
                          std::source_location where = std::source_location::current()) {
  const std::string text = co_await error_of(std::move(awaitable));
  EXPECT_EQ(text, message) << where.file_name() << ":" << where.line();
}

/// Expects that the await throws timed_out.
template <class Awaitable>
gyre::task<> expect_time_out(Awaitable awaitable, std::source_location where = std::source_location::current()) {
  const bool late = co_await throws<gyre::timed_out>(std::move(awaitable));
  EXPECT_TRUE(late) << where.file_name() << ":" << where.line();
}

}  // namespace gyre_test
