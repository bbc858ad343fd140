// tests/compile_fail/spawning_a_named_task.cpp: a task that has a name has to be moved.
// expect: pass std::move(t)
#include <gyre/tasks.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  auto handle = gyre::spawn(t);
  co_await handle;
}
