// tests/compile_fail/timeout_of_a_plain_function.cpp: a function that blocks cannot be cancelled.
// expect: a function that returns a task and takes nothing or a timeout_scope&
#include <gyre/tasks.hpp>

int blocks() { return 1; }
gyre::task<> caller() { co_await gyre::timeout(std::chrono::seconds(1), blocks); }
