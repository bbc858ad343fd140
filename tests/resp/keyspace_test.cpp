// tests/resp/keyspace_test.cpp: storing, expiring and accounting, on virtual time.
#include "programs/resp_server/keyspace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

using namespace resp;

namespace {

class keyspace_test : public testing::Test {
 protected:
  entry& set(std::string_view key, std::string_view value, unix_ms expires_at = never) {
    entry& item = keys.set(keys.find(key, 0), key, value);
    keys.expire_at(item, expires_at);
    return item;
  }

  shard_figures figures;
  keyspace keys{figures, 1};
};

}  // namespace

TEST_F(keyspace_test, keys_are_set_found_and_erased) {
  EXPECT_EQ(keys.find("a", 0), nullptr);
  set("a", "1");
  set("a", "2");
  set("", "empty key");
  EXPECT_EQ(figures.keys, 2U);
  EXPECT_EQ(keys.find("a", 0)->second.bytes, "2");
  EXPECT_EQ(keys.find("", 0)->second.bytes, "empty key");
  keys.erase(*keys.find("a", 0));
  EXPECT_EQ(keys.find("a", 0), nullptr);
}

TEST_F(keyspace_test, an_expired_key_is_removed_by_the_call_that_finds_it) {
  set("a", "1", 100);
  EXPECT_NE(keys.find("a", 100), nullptr);
  EXPECT_EQ(figures.keys, 1U);
  EXPECT_EQ(keys.find("a", 101), nullptr);
  EXPECT_EQ(figures.keys, 0U);
  EXPECT_EQ(figures.expiring_keys, 0U);
  EXPECT_EQ(figures.expired_keys, 1U);
}

TEST_F(keyspace_test, expire_some_keeps_to_its_budget_and_takes_the_soonest) {
  for (int i = 0; i < 100; ++i) set("k" + std::to_string(i), "v", 1000 - i);
  set("stays", "v");
  EXPECT_EQ(keys.expire_some(901, 10), 0U);
  EXPECT_EQ(keys.expire_some(920, 10), 10U);
  EXPECT_EQ(keys.find("k90", 0), nullptr);
  EXPECT_NE(keys.find("k89", 0), nullptr);
  EXPECT_EQ(keys.expire_some(10'000, 1000), 90U);
  EXPECT_EQ(figures.keys, 1U);
  EXPECT_EQ(figures.expired_keys, 100U);
}

TEST_F(keyspace_test, the_memory_of_keys_and_their_tables_is_counted_and_given_back) {
  keys.erase(set("a", "1"));
  const std::size_t empty = figures.key_bytes;
  set("key", "");
  const std::size_t small = figures.key_bytes;
  EXPECT_GT(small, empty);
  set("key", std::string(100'000, 'x'));
  EXPECT_GT(figures.key_bytes, small + 100'000);
  set("key", "x");  // releases the memory
  EXPECT_LT(figures.key_bytes, small + 5000);
  for (int i = 0; i < 50'000; ++i) set(std::to_string(i), "v", 10);
  EXPECT_GT(figures.key_bytes, 50'000U * 100);
  EXPECT_EQ(keys.expire_some(11, 100'000), 50'000U);
  keys.erase(*keys.find("key", 0));
  EXPECT_LT(figures.key_bytes, empty + 32'000);
}

TEST_F(keyspace_test, it_does_what_a_map_does_under_random_use) {
  std::map<std::string, std::pair<std::string, unix_ms>> model;
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unix_ms now = 1000;
  for (int round = 0; round < 100'000; ++round) {
    const std::string key = "key" + std::to_string(below(400));
    now += below(3);
    std::erase_if(model, [&](const auto& each) { return each.first == key && each.second.second < now; });
    entry* const item = keys.find(key, now);
    const auto known = model.find(key);
    ASSERT_EQ(item != nullptr, known != model.end());
    if (item != nullptr) {
      ASSERT_EQ(std::pair(item->second.bytes, item->second.expires_at), known->second);
    }
    const unsigned action = below(5);
    if (action < 2) {
      const std::string value(below(40), static_cast<char>('a' + below(26)));
      entry& changed = keys.set(item, key, value);
      model[key] = {value, changed.second.expires_at};
    } else if (action == 2 && item != nullptr) {
      const unix_ms when = below(4) == 0 ? never : now + below(500);
      keys.expire_at(*item, when);
      known->second.second = when;
    } else if (action == 3 && item != nullptr) {
      keys.erase(*item);
      model.erase(known);
    } else {
      keys.expire_some(now, below(3));
    }
  }
  keys.expire_some(now, 1000);
  std::erase_if(model, [&](const auto& each) { return each.second.second < now; });
  EXPECT_EQ(figures.keys, model.size());
}
