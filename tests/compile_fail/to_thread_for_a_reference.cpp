// tests/compile_fail/to_thread_for_a_reference.cpp: to_thread gives a value.
// expect: to_thread gives a value: return a copy or a pointer
#include <gyre/tasks/to_thread.hpp>

int& number();
gyre::task<> caller() { (void)co_await gyre::to_thread(number); }
