// tests/compile_fail/scope_of_a_plain_function.cpp: the body of a group is a coroutine.
// expect: a function of task_group& that returns a task<>
#include <gyre/tasks.hpp>

void body(gyre::task_group&) {}
gyre::task<> caller() { co_await gyre::task_group::scope(body); }
