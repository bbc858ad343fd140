// tests/compile_fail/unmarked_wrapper.cpp: the lifetime checks know only coroutines and functions that are marked.
// expect: neither a coroutine nor a coroutine wrapper
// compiler: clang
// flags: -DGYRE_CHECK_LIFETIMES
#include <gyre/coro/task.hpp>

gyre::task<> work(int) { co_return; }
gyre::task<> pass_on(int n) { return work(n); }
