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

  resp::shard_figures figures;
  client_memory memory{figures, 1'000'000};
  std::deque<client_account> clients;
};

}  // namespace

TEST_F(client_memory_test, the_bytes_of_all_clients_add_up_and_are_given_back) {
  client(100'000);
  client_account& second = client(200'000);
  second.set(1000);
  EXPECT_EQ(figures.client_bytes, 101'000U);
  clients.clear();
  EXPECT_EQ(figures.client_bytes, 0U);
}

TEST_F(client_memory_test, the_largest_client_leaves_for_a_smaller_one) {
  client_account& small = client(10'000);
  client_account& middle = client(200'000);
  client_account& large = client(700'000);
  EXPECT_TRUE(memory.make_room(small, 100'000));
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(memory.make_room(small, 150'000));
  EXPECT_EQ(told, (std::vector{&large}));
  EXPECT_TRUE(large.evicted());
  EXPECT_FALSE(middle.evicted());
  EXPECT_EQ(figures.evicted_clients, 1U);
}

TEST_F(client_memory_test, clients_that_leave_hold_at_most_as_much_again_as_the_limit) {
  for (int i = 0; i < 2; ++i) client(1'000'000 - 10'000);
  memory.keep_limit();
  EXPECT_EQ(told.size(), 1U);
  client_account& asking = client(1000);
  EXPECT_FALSE(memory.make_room(asking, 50'000));
  told.front()->set(0);
  EXPECT_TRUE(memory.make_room(asking, 50'000));
}

TEST_F(client_memory_test, smaller_clients_do_not_leave_for_a_larger_one) {
  client_account& asking = client(1000);
  for (int i = 0; i < 9; ++i) client(100'000);
  EXPECT_FALSE(memory.make_room(asking, 500'000));
  EXPECT_FALSE(memory.make_room(asking, 2'000'000));
  EXPECT_TRUE(told.empty());
}

TEST_F(client_memory_test, sums_hold_under_random_changes) {
  std::mt19937 random(5);
  std::vector<std::unique_ptr<client_account>> all;
  for (int round = 0; round < 50'000; ++round) {
    const std::size_t at = random() % 100;
    if (at >= all.size())
      all.push_back(std::make_unique<client_account>(memory, tell));
    else if (random() % 10 == 0)
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    else
      all[at]->set(random() % 2 == 0 ? random() % 100'000 : random() % 100);
    memory.keep_limit();
    std::size_t sum = 0;
    std::size_t staying = 0;
    for (const auto& each : all) {
      sum += each->bytes();
      if (!each->evicted()) staying += each->bytes();
    }
    ASSERT_EQ(figures.client_bytes, sum);
    ASSERT_LE(staying, 1'000'000U);
  }
  EXPECT_GT(figures.evicted_clients, 100U);
}
