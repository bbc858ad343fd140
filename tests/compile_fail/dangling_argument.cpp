// tests/compile_fail/dangling_argument.cpp: a task that refers to a temporary which dies before it runs.
// expect: temporary
// compiler: clang
// flags: -DGYRE_CHECK_LIFETIMES
#include <gyre/coro/task.hpp>

#include <string>

gyre::task<std::size_t> size_of(const std::string& text) { co_return text.size(); }
gyre::task<std::size_t> caller() {
  auto later = size_of(std::string("gone"));
  co_return co_await std::move(later);
}
