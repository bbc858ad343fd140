// tests/compile_fail/from_callback_without_done.cpp: from_callback hands the callback to its function.
// expect: from_callback calls its function with the callback: from_callback<T>([&](auto done) { ... })
#include <gyre/tasks/from_callback.hpp>

gyre::task<> caller() {
  (void)co_await gyre::from_callback<int>([] {});
}
