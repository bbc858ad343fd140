// tests/sanitized/freed_frame.cpp: reads a variable of a coroutine that has ended. The address sanitizer must stop it.
#include <gyre/runtime/run.hpp>

#include <cstdio>

namespace {

const int* left_behind = nullptr;

gyre::task<> leaves_a_pointer() {
  const int local = 42;
  left_behind = &local;
  co_await gyre::this_task_context{};
  std::printf("%d\n", *left_behind);
}

gyre::task<> reads_it() {
  auto handle = gyre::spawn(leaves_a_pointer());
  co_await handle;
  handle.detach();
  std::printf("%d\n", *left_behind);
}

}  // namespace

int main() { return gyre::run_main(reads_it()); }
