// tests/compile_fail/to_thread_with_an_argument.cpp: to_thread takes no arguments for the function.
// expect: to_thread takes a function without parameters: to_thread([&] { return f(argument); })
#include <gyre/tasks/to_thread.hpp>

int twice(int number);
gyre::task<> caller() { (void)co_await gyre::to_thread(twice, 3); }
