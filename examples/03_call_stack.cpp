// examples/03_call_stack.cpp: prints which coroutine awaits which, with file and line.
#include <gyre/gyre.hpp>

#include <cstdio>

namespace {

gyre::task<int> factorial(int n) {
  if (n <= 1) {
    gyre::print_call_stack(co_await gyre::call_stack(), stdout);
    co_return 1;
  }
  co_return n* co_await factorial(n - 1);
}

gyre::task<> program() { std::printf("%d\n", co_await factorial(10)); }

}  // namespace

int main() { return gyre::run_main(program()); }
