// tests/compile_fail/spawning_an_operation.cpp: an operation is not a task.
// expect: as_task makes a task of an operation
#include <gyre/tasks.hpp>

gyre::task<> caller() {
  auto handle = gyre::spawn(gyre::sleep(std::chrono::seconds(1)));
  co_return;
}
