// tests/compile_fail/rvalue_closure_condition.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/sync/condition_variable.hpp>

#include <string>

gyre::task<> caller(gyre::condition_variable& changed, std::string text) {
  co_await changed.wait([text] { return !text.empty(); });
}
