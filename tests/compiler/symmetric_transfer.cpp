// tests/compiler/symmetric_transfer.cpp: awaits and returns are jumps that use no stack, at any optimization level.
#include <gyre/runtime/run.hpp>

namespace {
gyre::task<long> one() { co_return 1; }
gyre::task<long> loop() {
  long sum = 0;
  for (int i = 0; i < 1'000'000; ++i) sum += co_await one();
  co_return sum;
}
gyre::task<long> chain(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await chain(depth - 1);
}
}  // namespace

int main() {
  if (gyre::run(loop()) != 1'000'000) return 1;
  return gyre::run(chain(100'000)) == 100'000 ? 0 : 2;
}
