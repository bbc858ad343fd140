// tests/compile_fail/as_completed_of_tasks.cpp: as_completed takes handles.
// expect: as_completed takes handles of running tasks: spawn each task and keep its handle
#include <gyre/tasks/wait.hpp>

gyre::task<> caller(std::vector<gyre::task<int>> tasks) {
  auto order = gyre::as_completed(tasks);
  (void)co_await order.next();
}
