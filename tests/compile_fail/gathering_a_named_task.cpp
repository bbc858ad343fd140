// tests/compile_fail/gathering_a_named_task.cpp: a task that has a name has to be moved.
// expect: pass std::move(t)
#include <gyre/tasks.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto t = work();
  co_await gyre::gather(t, work());
}
