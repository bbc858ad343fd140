// tests/compile_fail/rvalue_closure_timeout.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/timeout.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  co_await gyre::timeout(std::chrono::seconds(1), [text]() -> gyre::task<> { co_return; });
}
