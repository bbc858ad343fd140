// tests/resp/client_memory_test.cpp: which client is evicted when the buffers of all clients take too much memory.
#include "programs/resp_server/client_memory.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

using resp::client_account;
using resp::client_memory;

namespace {

std::vector<client_account*> told;  // clients told to leave, in this order

void tell(client_account& one) noexcept { told.push_back(&one); }

class client_memory_test : public testing::Test {
 protected:
  client_memory_test() { told.clear(); }
  client_account& client(std::size_t bytes) {
    client_account& made = clients.emplace_back(memory, tell);
    made.set(bytes);
    return made;
  }

  client_memory memory{100'000};
  std::deque<client_account> clients;
};

}  // namespace

TEST_F(client_memory_test, the_bytes_of_all_clients_add_up_and_are_given_back) {
  client(10'000);
  client_account& second = client(20'000);
  EXPECT_EQ(memory.used(), 30'000u);
  second.set(100);
  EXPECT_EQ(memory.used(), 10'100u);
  EXPECT_EQ(memory.available(), 89'900u);
  EXPECT_EQ(memory.available_to(second), 90'000u);
  clients.clear();
  EXPECT_EQ(memory.used(), 0u);
}

TEST_F(client_memory_test, the_largest_client_leaves_for_a_smaller_one) {
  client_account& small = client(1000);
  client_account& middle = client(20'000);
  client_account& large = client(70'000);
  EXPECT_TRUE(memory.make_room(small, 15'000));
  EXPECT_EQ(told, (std::vector{&large}));
  EXPECT_TRUE(large.evicted());
  EXPECT_FALSE(middle.evicted());
  EXPECT_EQ(memory.leaving(), 70'000u);
  EXPECT_EQ(memory.available_to(small), 10'000u);  // not before the large client has left
  large.set(10);
  EXPECT_EQ(memory.leaving(), 10u);
  EXPECT_GE(memory.available_to(small), 15'000u);
  EXPECT_EQ(memory.evicted_clients(), 1u);
}

TEST_F(client_memory_test, nobody_leaves_when_there_is_room) {
  client_account& small = client(1000);
  client(50'000);
  EXPECT_TRUE(memory.make_room(small, 50'000));
  EXPECT_TRUE(told.empty());
}

TEST_F(client_memory_test, smaller_clients_do_not_leave_for_a_larger_one) {
  client_account& asking = client(1000);
  for (int i = 0; i < 9; ++i) client(10'000);
  EXPECT_FALSE(memory.make_room(asking, 50'000));
  EXPECT_FALSE(memory.make_room(asking, 200'000));
  EXPECT_TRUE(told.empty());
}

TEST_F(client_memory_test, the_limit_is_kept_by_the_largest_even_when_that_is_the_one_that_grew) {
  client(40'000);
  client_account& large = client(50'000);
  memory.keep_limit();
  EXPECT_TRUE(told.empty());
  large.set(70'000);
  EXPECT_TRUE(memory.over_limit());
  memory.keep_limit();
  EXPECT_EQ(told, (std::vector{&large}));
  EXPECT_FALSE(memory.over_limit());  // the client that is leaving no longer counts
  memory.keep_limit();
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(client_memory_test, sums_and_buckets_hold_under_random_changes) {
  std::mt19937 random(5);
  client_memory pool(1'000'000);
  std::vector<std::unique_ptr<client_account>> all;
  for (int round = 0; round < 50'000; ++round) {
    const std::size_t at = random() % 100;
    if (at >= all.size())
      all.push_back(std::make_unique<client_account>(pool, tell));
    else if (random() % 10 == 0)
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    else
      all[at]->set(random() % 2 == 0 ? random() % 100'000 : random() % 100);
    pool.keep_limit();
    std::size_t sum = 0;
    std::size_t staying = 0;
    for (const auto& each : all) {
      sum += each->bytes();
      if (!each->evicted()) staying += each->bytes();
    }
    ASSERT_EQ(pool.used(), sum);
    ASSERT_EQ(pool.leaving(), sum - staying);
    ASSERT_LE(staying, pool.limit());
  }
  EXPECT_GT(pool.evicted_clients(), 100u);
}
