// tests/compile_fail/shield_of_a_plain_function.cpp: the function of a shield is a coroutine.
// expect: shield takes a task, an operation, or a function without parameters that returns a task
#include <gyre/tasks/shield.hpp>

gyre::task<> caller() {
  co_await gyre::shield([] {});
}
