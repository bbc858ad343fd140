// tests/compile_fail/task_of_a_const_value.cpp: a task gives its value away.
// expect: a task<const T> could not give its value away: use task<T>
#include <gyre/coro/task.hpp>

gyre::task<const int> number() { co_return 1; }
