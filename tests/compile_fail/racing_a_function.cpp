// tests/compile_fail/racing_a_function.cpp: race awaits, and calls nothing.
// expect: call a function to get its task
#include <gyre/tasks.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() { (void)co_await gyre::race(work, work); }
