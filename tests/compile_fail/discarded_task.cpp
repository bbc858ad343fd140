// tests/compile_fail/discarded_task.cpp: a task that nobody awaits.
// expect: a task does nothing until it is awaited or spawned
#include <gyre/coro/task.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  work();
  co_return;
}
