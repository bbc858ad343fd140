// tests/compile_fail/discarded_spawn.cpp: a background task by accident.
// expect: say so with detach()
#include <gyre/tasks/spawn.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  gyre::spawn(work());
  co_return;
}
