// tests/compile_fail/rvalue_closure_scope.cpp: g++ 12 destroys the captures of a temporary closure twice.
// expect: name it first
// compiler: g++
#include <gyre/tasks/task_group.hpp>

#include <string>

gyre::task<> caller(std::string text) {
  co_await gyre::task_group::scope([text](gyre::task_group&) -> gyre::task<> { co_return; });
}
