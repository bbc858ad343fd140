// bench/micro/counter.cpp: counter gyre|threads|thread: increments a counter behind a mutex a thousand million
// times, by 1000 tasks, 1000 threads, or one thread.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t all = 1'000'000'000;
constexpr std::uint64_t tasks = 1'000;

gyre::task<> increment(gyre::mutex& mutex, std::uint64_t& counter) {
  for (std::uint64_t i = 0; i < all / tasks; ++i) {
    const auto lock = co_await mutex.scoped_lock();
    ++counter;
  }
}

gyre::task<> by_tasks(std::uint64_t& counter) {
  gyre::mutex mutex;
  std::vector<gyre::task<>> incrementing;
  for (std::uint64_t i = 0; i < tasks; ++i) incrementing.push_back(increment(mutex, counter));
  co_await gyre::gather(std::move(incrementing));
}

void by_threads(std::uint64_t threads, std::uint64_t& counter) {
  std::mutex mutex;
  std::vector<std::jthread> incrementing;
  for (std::uint64_t i = 0; i < threads; ++i)
    incrementing.emplace_back([&] {
      for (std::uint64_t n = 0; n < all / threads; ++n) {
        const std::scoped_lock lock(mutex);
        ++counter;
      }
    });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view kind = count == 2 ? arguments[1] : "";
  std::uint64_t counter = 0;
  const auto began = std::chrono::steady_clock::now();
  if (kind == "gyre")
    gyre::run(by_tasks(counter));
  else if (kind == "threads" || kind == "thread")
    by_threads(kind == "threads" ? tasks : 1, counter);
  else
    std::fprintf(stderr, "usage: counter gyre|threads|thread\n");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (counter != all) return 2;
  std::printf("increments/s: %.0f\n", static_cast<double>(all) / took.count());
  return 0;
}
