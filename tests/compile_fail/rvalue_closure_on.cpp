// tests/compile_fail/rvalue_closure_on.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/on.hpp>

#include <string>

gyre::task<> caller(gyre::event_loop& other, std::string text) {
  (void)co_await gyre::on(other, [text] { return text.size(); });
}
