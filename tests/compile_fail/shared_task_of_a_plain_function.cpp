// tests/compile_fail/shared_task_of_a_plain_function.cpp: a shared_task is made of a task.
// expect: shared_task takes a task, or a function without parameters that returns one
#include <gyre/tasks/shared_task.hpp>

void caller() {
  gyre::shared_task<int> number([] { return 1; });
}
