// tests/io/buffer_pool_test.cpp: the pool of receive buffers.
#include <gyre/io/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <set>
#include <vector>

namespace gyre::io {
namespace {

TEST(buffer_pool, begins_with_every_buffer_free) {
  const buffer_pool pool(8, 512);
  EXPECT_EQ(pool.count(), 8U);
  EXPECT_EQ(pool.buffer_size(), 512U);
  EXPECT_EQ(pool.available(), 8U);
}

TEST(buffer_pool, gives_each_buffer_once_and_then_none) {
  buffer_pool pool(16, 64);
  std::set<std::uint32_t> taken;
  for (int i = 0; i < 16; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), 16U);
  EXPECT_LT(*taken.rbegin(), 16U);
  EXPECT_EQ(pool.available(), 0U);
  EXPECT_EQ(pool.take(), buffer_pool::none);
  EXPECT_EQ(pool.available(), 0U);
}

TEST(buffer_pool, gives_the_buffer_released_last) {
  buffer_pool pool(4, 64);
  const std::uint32_t a = pool.take();
  const std::uint32_t b = pool.take();
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
}

TEST(buffer_pool, recovers_from_being_empty) {
  buffer_pool pool(2, 64);
  const std::uint32_t a = pool.take();
  (void)pool.take();
  EXPECT_EQ(pool.take(), buffer_pool::none);
  pool.release(a);
  EXPECT_EQ(pool.available(), 1U);
  EXPECT_EQ(pool.take(), a);
}

TEST(buffer_pool, buffers_do_not_overlap) {
  buffer_pool pool(32, 100);
  std::vector<std::uint32_t> taken;
  for (std::uint32_t index = pool.take(); index != buffer_pool::none; index = pool.take()) {
    std::memset(pool.data(index), static_cast<int>(index) + 1, pool.buffer_size());
    taken.push_back(index);
  }
  for (const std::uint32_t index : taken)
    for (std::uint32_t i = 0; i < pool.buffer_size(); ++i)
      ASSERT_EQ(pool.data(index)[i], static_cast<std::byte>(index + 1));
}

TEST(buffer_pool, taken_buffers_can_be_linked_by_their_slots) {
  buffer_pool pool(4, 64);
  const std::uint32_t a = pool.take();
  const std::uint32_t b = pool.take();
  pool.at(a) = {.next = b, .length = 10};
  pool.at(b) = {.next = buffer_pool::none, .length = 20};
  const std::uint32_t c = pool.take();  // the free list is intact
  EXPECT_NE(c, a);
  EXPECT_NE(c, b);
  EXPECT_EQ(pool.at(pool.at(a).next).length, 20U);
}

TEST(buffer_pool, reports_memory_that_cannot_be_had) {
  EXPECT_THROW(buffer_pool(32768, 0xFFFFFFFFU), std::bad_alloc);  // 128 TiB
}

}  // namespace
}  // namespace gyre::io
