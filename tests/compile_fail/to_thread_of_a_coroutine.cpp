// tests/compile_fail/to_thread_of_a_coroutine.cpp: a task made on a thread would run nowhere.
// expect: to_thread takes a function that blocks, not a coroutine: the task that it returns would never run
#include <gyre/tasks/to_thread.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() { co_await gyre::to_thread(work); }
