// tests/coro/frame_pool_limits_test.cpp: how much memory the pool keeps; a steady state takes nothing from the heap.
#include <gyre/coro/frame_pool.hpp>

#include "tests/support/virtual_run.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

using namespace gyre_test;

#ifndef GYRE_NO_FRAME_POOL

namespace {
thread_local long taken = 0;  // blocks that this thread has taken from the heap
std::atomic<long> given_back = 0;
}  // namespace

// Counts in the whole test program. The blocks still come from malloc.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++taken;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  ++given_back;
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }

namespace {

constexpr std::size_t block_size = gyre::frame_pool::largest;
constexpr std::size_t kept_blocks = gyre::frame_pool::max_cached_bytes / block_size;

std::vector<void*> allocate_blocks(std::size_t count) {
  std::vector<void*> blocks(count);
  for (void*& each : blocks) each = gyre::frame_pool::allocate(block_size);
  return blocks;
}
void free_blocks(const std::vector<void*>& blocks) {
  for (void* const each : blocks) gyre::frame_pool::deallocate(each, block_size);
}

gyre::task<int> returned_one() { co_return 1; }

}  // namespace

TEST(frame_pool, gives_back_to_the_heap_what_is_over_its_limit) {
  const std::vector<void*> blocks = allocate_blocks(kept_blocks * 2);
  const long before = given_back;
  free_blocks(blocks);
  EXPECT_GE(given_back - before, static_cast<long>(kept_blocks));
  const long taken_before = taken;
  const std::vector<void*> again = allocate_blocks(kept_blocks);
  EXPECT_LE(taken - taken_before, 1);  // the vector
  free_blocks(again);
}

TEST(frame_pool, does_not_keep_blocks_that_are_larger_than_the_largest_class) {
  const long before = given_back;
  void* const large = gyre::frame_pool::allocate(gyre::frame_pool::largest + 1);
  gyre::frame_pool::deallocate(large, gyre::frame_pool::largest + 1);
  EXPECT_EQ(given_back - before, 1);
}

TEST(frame_pool_threads, gives_everything_back_when_its_thread_ends) {
  std::atomic<long> before = 0;
  std::thread user([&] {
    const std::vector<void*> blocks = allocate_blocks(100);
    free_blocks(blocks);
    before = given_back.load();
  });
  user.join();
  EXPECT_GE(given_back - before, 100);
}

TEST(frame_pool_threads, a_thread_that_only_frees_keeps_no_more_than_the_limit) {
  const std::vector<void*> blocks = allocate_blocks(kept_blocks * 2);
  const long before = given_back;
  std::thread consumer([&] { free_blocks(blocks); });
  consumer.join();
  EXPECT_GE(given_back - before, static_cast<long>(kept_blocks) * 2);
}

TEST(frame_pool, awaits_spawns_sleeps_and_time_outs_take_nothing_from_the_heap_in_a_steady_state) {
  run_virtual([]() -> gyre::task<> {
    const auto round = []() -> gyre::task<> {
      int sum = 0;
      for (int i = 0; i < 10; ++i) {
        sum += co_await returned_one();
        sum += co_await gyre::spawn(returned_one(), {.name = "child"});
        sum += co_await gyre::timeout(1s, returned_one());
        auto both = gyre::gather(returned_one(), returned_one());
        sum += (co_await std::move(both)).get<0>();
        auto race = gyre::race(returned_one(), returned_one());
        sum += (co_await std::move(race)).value;
        auto sleeps = gyre::gather(gyre::sleep(1ms), gyre::sleep(1ms), gyre::sleep(1ms));
        co_await std::move(sleeps);  // they expire at the same moment
        co_await gyre::yield();
      }
      EXPECT_EQ(sum, 50);
    };
    co_await round();
    const long before = taken;
    co_await round();
    EXPECT_EQ(taken - before, 0);
  });
}

#endif
