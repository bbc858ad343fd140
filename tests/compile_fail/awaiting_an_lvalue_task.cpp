// tests/compile_fail/awaiting_an_lvalue_task.cpp: awaiting a task leaves nothing of it, so it has to be moved.
// expect: use std::move(t)
#include <gyre/coro/task.hpp>

gyre::task<> work() { co_return; }
gyre::task<> caller() {
  auto later = work();
  co_await later;
}
