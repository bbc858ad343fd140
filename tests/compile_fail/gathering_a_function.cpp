// tests/compile_fail/gathering_a_function.cpp: gather awaits, and calls nothing.
// expect: call a function to get its task
#include <gyre/tasks.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() { co_await gyre::gather(work, work); }
