// tests/compile_fail/unawaited_task.cpp: a task with a name that nobody awaits.
// expect: unused variable
#include <gyre/coro/task.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  co_return;
}
