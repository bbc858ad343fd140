// tests/compile_fail/rvalue_aggregate_to_thread.cpp: g++ 12 destroys the members of a temporary aggregate twice, too.
// expect: name it first
// compiler: g++
#include <gyre/tasks/to_thread.hpp>

#include <string>

struct measure {
  std::string text;
  std::size_t operator()() const { return text.size(); }
};
gyre::task<> caller(std::string text) { (void)co_await gyre::to_thread(measure{text}); }
