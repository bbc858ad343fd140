// tests/support/error_of.hpp: an error as text, or by its type.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <exception>
#include <expected>
#include <string>
#include <system_error>
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
/// The same for a handle, which stays with the caller.
template <class T>
gyre::task<std::string> error_of(gyre::task_handle<T>& handle) {
  try {
    (void)co_await handle;
    co_return "";
  } catch (const std::exception& error) {
    co_return error.what();
  }
}

/// Whether the await throws an `Error`. Throws any other exception.
template <class Error, class Awaitable>
gyre::task<bool> throws(Awaitable awaitable) {
  try {
    (void)co_await std::move(awaitable);
    co_return false;
  } catch (const Error&) {
    co_return true;
  }
}

/// The same of a call that fails at once.
template <class Call>
std::string error_of_call(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// The error that an expected result holds, or none.
template <class T>
std::error_code code_of(const std::expected<T, std::error_code>& outcome) {
  return outcome ? std::error_code() : outcome.error();
}

}  // namespace gyre_test
