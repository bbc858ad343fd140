// tests/compile_fail/dangling_lambda_argument.cpp: a stored task that refers to a temporary given to its lambda.
// expect: temporary
// compiler: clang
// flags: -DGYRE_CHECK_LIFETIMES
#include <gyre/coro/task.hpp>

#include <string>

gyre::task<std::size_t> caller() {
  const auto measure = [](const std::string& text) -> gyre::task<std::size_t> { co_return text.size(); };
  auto later = measure(std::string("gone"));
  co_return co_await std::move(later);
}
