// bench/micro/micro_memory.cpp: bytes on the heap for each of many tasks that sleep, for bench/budgets.py.
#include <gyre/gyre.hpp>

#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdio>

namespace {

std::size_t on_the_heap() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

gyre::task<> sleeps() { co_await gyre::sleep(std::chrono::hours(1)); }

gyre::task<> count() {
  constexpr std::size_t tasks = 100'000;
  const auto body = [](gyre::task_group& group) -> gyre::task<> {
    const std::size_t before = on_the_heap();
    for (std::size_t i = 0; i < tasks; ++i) group.spawn(sleeps());
    co_await gyre::yield();
    const auto each = static_cast<double>(on_the_heap() - before) / static_cast<double>(tasks);
    std::printf("sleeping task\t%.2f\n", each);
    group.cancel();
  };
  co_await gyre::task_group::scope(body);
}

}  // namespace

int main() { return gyre::run_main(count()); }
