// tests/compile_fail/as_result_of_a_function.cpp: as_result takes a task, and no function.
// expect: as_result takes a task or an operation; call a function to get its task: as_result(f())
#include <gyre/tasks/as_result.hpp>

gyre::task<int> fetch();
gyre::task<> caller() { (void)co_await gyre::as_result(fetch); }
