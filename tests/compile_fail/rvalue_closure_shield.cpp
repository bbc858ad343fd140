// tests/compile_fail/rvalue_closure_shield.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/shield.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  co_await gyre::shield([text]() -> gyre::task<> { co_return; });
}
