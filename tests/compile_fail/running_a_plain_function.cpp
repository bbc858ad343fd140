// tests/compile_fail/running_a_plain_function.cpp: run takes what gives a task.
// expect: run takes a task, moved, or a function without parameters that returns one
#include <gyre/runtime/run.hpp>

int main() {
  gyre::run([](int) {});
}
