// tests/compile_fail/spawn_then_of_a_plain_function.cpp: spawn_then runs a coroutine.
// expect: spawn_then takes a task, or a function without parameters that returns one
#include <gyre/tasks/spawn_then.hpp>

void caller() {
  gyre::spawn_then([] { return 1; }, [](auto&&) {});
}
