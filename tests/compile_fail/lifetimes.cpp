// tests/compile_fail/lifetimes.cpp: tasks that refer to temporaries which die before they run.
// compiler: clang
// flags: -DGYRE_CHECK_LIFETIMES
#include <gyre/gyre.hpp>

#include <string>

// case: dangling_argument: a task that refers to a temporary which dies before it runs.
// expect: temporary
gyre::task<std::size_t> size_of(const std::string& text) { co_return text.size(); }
gyre::task<std::size_t> caller() {
  auto later = size_of(std::string("gone"));
  co_return co_await std::move(later);
}

// case: dangling_lambda_argument: a stored task that refers to a temporary given to its lambda.
// expect: temporary
gyre::task<std::size_t> caller() {
  const auto measure = [](const std::string& text) -> gyre::task<std::size_t> { co_return text.size(); };
  auto later = measure(std::string("gone"));
  co_return co_await std::move(later);
}

// case: spawning_a_dangling_argument: a spawned task that refers to a temporary.
// expect: temporary
gyre::task<std::size_t> size_of(const std::string& text) { co_return text.size(); }
gyre::task<> caller() {
  auto handle = gyre::spawn(size_of(std::string("gone")));
  co_await handle;
}

// case: unmarked_wrapper: the lifetime checks know only coroutines and functions that are marked.
// expect: neither a coroutine nor a coroutine wrapper
gyre::task<> work(int) { co_return; }
gyre::task<> pass_on(int n) { return work(n); }
