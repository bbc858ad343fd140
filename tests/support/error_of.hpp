// tests/support/error_of.hpp: an error as text.
#pragma once

#include <gyre/coro/task.hpp>

#include <exception>
#include <string>
#include <utility>

namespace gyre_test {

/// The message of the exception that the await throws, or "" if it throws none.
template <class Awaitable>
gyre::task<std::string> error_of(Awaitable awaitable) {
  try {
    (void)co_await std::move(awaitable);
    co_return "";
  } catch (const std::exception& error) {
    co_return error.what();
  }
}

}  // namespace gyre_test
