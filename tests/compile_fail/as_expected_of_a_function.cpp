// tests/compile_fail/as_expected_of_a_function.cpp: as_expected takes a task, and no function.
// expect: as_expected takes a task or an operation; call a function to get its task: as_expected(f())
#include <gyre/tasks/as_expected.hpp>

gyre::task<int> fetch();
gyre::task<> caller() { (void)co_await gyre::as_expected(fetch); }
