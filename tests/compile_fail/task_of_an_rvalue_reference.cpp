// tests/compile_fail/task_of_an_rvalue_reference.cpp: a task gives a value or an lvalue reference.
// expect: would refer to what has ended
#include <gyre/coro/task.hpp>

gyre::task<int&&> number() { co_return 1; }
