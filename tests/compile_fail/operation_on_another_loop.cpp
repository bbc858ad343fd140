// tests/compile_fail/operation_on_another_loop.cpp: an operation that a function returns would never be awaited.
// expect: as_task(operation)
#include <gyre/tasks.hpp>

gyre::task<> caller(gyre::event_loop& loop) {
  (void)co_await gyre::on(loop, [] { return gyre::sleep(std::chrono::seconds(1)); });
}
