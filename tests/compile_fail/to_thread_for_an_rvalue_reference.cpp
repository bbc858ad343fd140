// tests/compile_fail/to_thread_for_an_rvalue_reference.cpp: to_thread gives a value or an lvalue reference.
// expect: to_thread gives a value or an lvalue reference: return a copy
#include <gyre/tasks/to_thread.hpp>

int&& number();
gyre::task<> caller() { (void)co_await gyre::to_thread(number); }
