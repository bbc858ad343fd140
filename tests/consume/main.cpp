// tests/consume/main.cpp: the smallest program that uses an installed gyre.
#include <gyre/gyre.hpp>
#include <gyre/version.hpp>

#include <cstdio>

gyre::task<int> answer() {
  co_await gyre::yield();
  co_return 42;
}

int main() {
  std::printf("gyre %s: %d\n", gyre::version_string, gyre::run(answer()));
  return 0;
}
