// tests/compile_fail/discarded_sleep.cpp: a sleep that nobody awaits.
// expect: nodiscard
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/spawn.hpp>

gyre::task<> caller() {
  gyre::sleep(std::chrono::seconds(1));
  co_return;
}
