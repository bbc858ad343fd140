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
  const buffer_pool pool({.count = 8, .size = 512});
  EXPECT_EQ(pool.count(), 8U);
  EXPECT_EQ(pool.buffer_size(), 512U);
  EXPECT_EQ(pool.available(), 8U);
}

TEST(buffer_pool, gives_each_buffer_once_and_then_none) {
  buffer_pool pool({.count = 16, .size = 64});
  std::set<std::uint32_t> taken;
  for (int i = 0; i < 16; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), 16U);
  EXPECT_LT(*taken.rbegin(), 16U);
  EXPECT_EQ(pool.available(), 0U);
  EXPECT_EQ(pool.take(), buffer_pool::none);
  EXPECT_EQ(pool.available(), 0U);
}

TEST(buffer_pool, gives_the_buffer_released_last) {
  buffer_pool pool({.count = 4, .size = 64});
  const std::uint32_t a = pool.take();
  const std::uint32_t b = pool.take();
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.take(), a);
}

TEST(buffer_pool, recovers_from_being_empty) {
  buffer_pool pool({.count = 2, .size = 64});
  const std::uint32_t a = pool.take();
  (void)pool.take();
  EXPECT_EQ(pool.take(), buffer_pool::none);
  pool.release(a);
  EXPECT_EQ(pool.available(), 1U);
  EXPECT_EQ(pool.take(), a);
}

TEST(buffer_pool, buffers_do_not_overlap) {
  buffer_pool pool({.count = 32, .size = 100});
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
  buffer_pool pool({.count = 4, .size = 64});
  const std::uint32_t a = pool.take();
  const std::uint32_t b = pool.take();
  pool.at(a) = {.next = b, .length = 10};
  pool.at(b) = {.next = buffer_pool::none, .length = 20};
  const std::uint32_t c = pool.take();  // the free list is intact
  EXPECT_NE(c, a);
  EXPECT_NE(c, b);
  EXPECT_EQ(pool.at(pool.at(a).next).length, 20U);
}

TEST(buffer_pool, large_buffers_are_taken_and_given_back_apart_from_the_others) {
  buffer_pool pool({.count = 2, .size = 64}, {.count = 2, .size = 1000});
  EXPECT_EQ(pool.large_count(), 2U);
  EXPECT_EQ(pool.large_size(), 1000U);
  const std::uint32_t large = pool.take_large();
  EXPECT_TRUE(pool.is_large(large));
  EXPECT_EQ(pool.large_available(), 1U);
  EXPECT_EQ(pool.available(), 2U);
  EXPECT_TRUE(pool.in_use());
  (void)pool.take_large();
  EXPECT_EQ(pool.take_large(), buffer_pool::none);
  const std::uint32_t common = pool.take();
  EXPECT_FALSE(pool.is_large(common));
  pool.release(large);
  EXPECT_EQ(pool.take_large(), large);
}

TEST(buffer_pool, large_buffers_do_not_overlap_the_others) {
  buffer_pool pool({.count = 4, .size = 100}, {.count = 4, .size = 300});
  for (int i = 0; i < 4; ++i) std::memset(pool.data(pool.take()), 1, 100);
  std::vector<std::uint32_t> taken;
  for (int i = 0; i < 4; ++i) {
    taken.push_back(pool.take_large());
    std::memset(pool.data(taken.back()), 2 + i, 300);
  }
  for (std::uint32_t index = 0; index < 4; ++index)
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(pool.data(index)[i], std::byte{1});
  for (std::size_t n = 0; n < 4; ++n)
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(pool.data(taken[n])[i], static_cast<std::byte>(2 + n));
}

TEST(buffer_pool, is_in_use_while_somebody_holds_a_buffer_of_either_size) {
  buffer_pool pool({.count = 2, .size = 64}, {.count = 1, .size = 64});
  EXPECT_FALSE(pool.in_use());
  const std::uint32_t of_kernel = pool.take_for_kernel();
  EXPECT_FALSE(pool.in_use());
  pool.kernel_gave_back();
  EXPECT_TRUE(pool.in_use());
  pool.release(of_kernel);
  const std::uint32_t large = pool.take_large();
  EXPECT_TRUE(pool.in_use());
  pool.release(large);
  EXPECT_FALSE(pool.in_use());
}

TEST(buffer_pool, reports_memory_that_cannot_be_had) {
  EXPECT_THROW(buffer_pool({.count = 32768, .size = 0xFFFFFFFFU}), std::bad_alloc);  // 128 TiB
}

}  // namespace
}  // namespace gyre::io
