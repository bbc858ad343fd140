// tests/compile_fail/spawning_in_a_group_what_takes_arguments.cpp: the group has no argument to give.
// expect: a function without parameters
#include <gyre/tasks.hpp>

gyre::task<> body(gyre::task_group& group) {
  (void)group.spawn([](int) -> gyre::task<> { co_return; });
  co_return;
}
