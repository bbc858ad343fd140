// tests/compile_fail/spawning_a_dangling_argument.cpp: a spawned task that refers to a temporary.
// expect: temporary
// compiler: clang
// flags: -DGYRE_CHECK_LIFETIMES
#include <gyre/tasks.hpp>

#include <string>

gyre::task<std::size_t> size_of(const std::string& text) { co_return text.size(); }
gyre::task<> caller() {
  auto handle = gyre::spawn(size_of(std::string("gone")));
  co_await handle;
}
