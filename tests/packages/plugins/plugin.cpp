// tests/packages/plugins/plugin.cpp: a shared object that contains the static library. Two of them are loaded into one
// process.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <exception>

using namespace std::chrono_literals;

namespace {

gyre::task<int> works(int (*inside)()) {
  co_await gyre::sleep(1ms);
  const auto one = [] { return 1; };
  int sum = co_await gyre::to_thread(one);
  const auto two = []() -> gyre::task<int> {
    co_await gyre::yield();
    co_return 2;
  };
  auto spawned = gyre::spawn(two);
  if (inside != nullptr) sum += inside();
  sum += co_await gyre::timeout(1s, two);
  co_return sum + co_await spawned;
}

}  // namespace

/// Returns 5, and what `inside` returns, which is called by a task.
extern "C" [[gnu::visibility("default")]] int plugin_work(int (*inside)()) {
  try {
    return gyre::run(works(inside));
  } catch (const std::exception& error) {
    std::printf("plugin: %s\n", error.what());
    return -1;
  }
}

extern "C" [[gnu::visibility("default")]] void plugin_end() { gyre::end_thread_pools(); }
