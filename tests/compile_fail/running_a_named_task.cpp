// tests/compile_fail/running_a_named_task.cpp: running a task consumes it.
// expect: pass std::move(t)
#include <gyre/runtime/run.hpp>

gyre::task<> work() { co_return; }
int main() {
  auto main_task = work();
  gyre::run(main_task);
}
