// tests/compile_fail/foreign_awaitable.cpp: an awaitable that might resume the task on another thread.
// expect: not a gyre awaitable
#include <gyre/coro/task.hpp>

gyre::task<> caller() { co_await std::suspend_always{}; }
