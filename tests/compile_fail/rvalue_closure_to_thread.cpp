// tests/compile_fail/rvalue_closure_to_thread.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/to_thread.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  (void)co_await gyre::to_thread([text] { return text.size(); });
}
