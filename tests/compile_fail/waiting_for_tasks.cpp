// tests/compile_fail/waiting_for_tasks.cpp: wait takes handles.
// expect: wait takes handles of running tasks: spawn each task and keep its handle
#include <gyre/tasks/wait.hpp>

gyre::task<> caller(std::vector<gyre::task<int>> tasks) { (void)co_await gyre::wait(tasks); }
