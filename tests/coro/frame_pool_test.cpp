// tests/coro/frame_pool_test.cpp: recycling memory, within a thread and across threads.
#include <gyre/coro/frame_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST(frame_pool, gives_a_freed_block_of_the_same_class_again) {
#ifdef GYRE_NO_FRAME_POOL
  GTEST_SKIP() << "the pool is switched off in this build";
#endif
  void* const first = gyre::frame_pool::allocate(90);
  gyre::frame_pool::deallocate(first, 90);
  void* const second = gyre::frame_pool::allocate(100);
  EXPECT_EQ(first, second);
  gyre::frame_pool::deallocate(second, 100);
}

TEST(frame_pool, blocks_of_every_size_are_usable_to_their_last_byte) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  const auto mark = [](std::size_t size) { return static_cast<char>(size % 251); };
  for (std::size_t size = 1; size < 6000; size += 37) {
    void* const block = gyre::frame_pool::allocate(size);
    std::memset(block, mark(size), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) {
    EXPECT_EQ(std::string_view(static_cast<char*>(block), size), std::string(size, mark(size)));
    gyre::frame_pool::deallocate(block, size);
  }
}

// Only a sanitizer reports a failure.
TEST(frame_pool_threads, a_block_may_be_freed_by_another_thread) {
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    std::thread maker([&] {
      for (int i = 0; i < 1000; ++i) blocks.push_back(gyre::frame_pool::allocate(200));
    });
    maker.join();
    for (void* const each : blocks) gyre::frame_pool::deallocate(each, 200);
  }
}
