// tests/compile_fail/unawaited_scoped_lock.cpp: the guard is what the await gives.
// expect: unused
#include <gyre/coro/task.hpp>
#include <gyre/sync/mutex.hpp>

gyre::task<> caller(gyre::mutex& mutex) {
  auto guard = mutex.scoped_lock();
  co_return;
}
