// tests/compile_fail/rvalue_closure_from_callback.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/from_callback.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  (void)co_await gyre::from_callback<std::size_t>([text](auto done) { done(text.size()); });
}
