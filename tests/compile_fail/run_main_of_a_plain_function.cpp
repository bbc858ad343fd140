// tests/compile_fail/run_main_of_a_plain_function.cpp: main is a coroutine.
// expect: a function without parameters that returns one
#include <gyre/runtime/run.hpp>

int serve() { return 1; }
int main() { return gyre::run_main(serve); }
