// tests/resp/keyspace_test.cpp: storing, expiring and accounting, on virtual time.
#include "programs/resp_server/keyspace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

using namespace resp;

namespace {

std::string value_of(const entry* item) { return item == nullptr ? "(none)" : item->second.bytes; }

}  // namespace

TEST(keyspace, sets_finds_and_erases) {
  keyspace keys;
  EXPECT_EQ(keys.find("a", 0), nullptr);
  keys.set("a", "1", 0);
  keys.set("a", "2", 0);
  keys.set("", "empty key", 0);
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_EQ(value_of(keys.find("a", 0)), "2");
  EXPECT_EQ(value_of(keys.find("", 0)), "empty key");
  keys.erase(*keys.find("a", 0));
  EXPECT_EQ(keys.find("a", 0), nullptr);
  keys.clear();
  EXPECT_EQ(keys.size(), 0u);
}

TEST(keyspace, an_expired_key_is_removed_by_who_meets_it) {
  keyspace keys;
  keys.expire_at(keys.set("a", "1", 0), 100);
  EXPECT_NE(keys.find("a", 100), nullptr);
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.find("a", 101), nullptr);
  EXPECT_EQ(keys.size(), 0u);
  EXPECT_EQ(keys.expiring(), 0u);
  EXPECT_EQ(keys.expired_so_far(), 1u);
}

TEST(keyspace, setting_again_forgets_the_expiry) {
  keyspace keys;
  keys.expire_at(keys.set("a", "1", 0), 100);
  keys.set("a", "2", 0);
  EXPECT_EQ(keys.expiring(), 0u);
  EXPECT_NE(keys.find("a", 1'000'000), nullptr);
}

TEST(keyspace, expire_some_keeps_to_its_budget_and_takes_the_soonest) {
  keyspace keys;
  for (int i = 0; i < 100; ++i) keys.expire_at(keys.set("k" + std::to_string(i), "v", 0), 1000 - i);
  keys.set("stays", "v", 0);
  EXPECT_EQ(keys.next_expiry(), 901);
  EXPECT_EQ(keys.expire_some(901, 10), 0u);
  EXPECT_EQ(keys.expire_some(920, 10), 10u);
  EXPECT_EQ(keys.next_expiry(), 911);
  EXPECT_EQ(keys.expire_some(920, 1000), 9u);
  EXPECT_EQ(keys.expire_some(10'000, 1000), 81u);
  EXPECT_EQ(keys.next_expiry(), never);
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.expired_so_far(), 100u);
}

TEST(keyspace, used_bytes_follow_what_is_stored) {
  keyspace keys;
  const std::size_t empty = keys.used_bytes();
  entry& item = keys.set("key", "", 0);
  const std::size_t small = keys.used_bytes();
  EXPECT_GT(small, empty);
  keys.assign(item, std::string(100'000, 'x'));
  EXPECT_GT(keys.used_bytes(), small + 100'000);
  keys.assign(item, "x");  // releases the memory
  EXPECT_LT(keys.used_bytes(), small + 5000);
  keys.append(item, std::string(50'000, 'x'));
  EXPECT_GT(keys.used_bytes(), small + 50'000);
  keys.erase(item);
  EXPECT_LT(keys.used_bytes(), small);
  keys.clear();
  EXPECT_EQ(keys.used_bytes(), empty);
}

TEST(keyspace, the_tables_of_many_keys_are_given_back) {
  keyspace keys;
  const std::size_t empty = keys.used_bytes();
  for (int i = 0; i < 50'000; ++i) keys.expire_at(keys.set(std::to_string(i), "v", 0), 10);
  EXPECT_GT(keys.used_bytes(), 50'000u * 100);
  EXPECT_EQ(keys.expire_some(11, 100'000), 50'000u);
  EXPECT_LT(keys.used_bytes(), empty + 32'000);
}

TEST(keyspace, knows_its_limit) {
  keyspace keys({.max_bytes = 10'000, .max_value_bytes = 100, .hash_seed = 1});
  EXPECT_FALSE(keys.over_limit());
  keys.set("a", std::string(10'000, 'x'), 0);
  EXPECT_TRUE(keys.over_limit());
  keys.set("a", "x", 0);
  EXPECT_FALSE(keys.over_limit());
}

TEST(keyspace, does_what_a_map_does_under_random_use) {
  struct model_value {
    std::string bytes;
    unix_ms expires_at;
  };
  std::map<std::string, model_value> model;
  keyspace keys;
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  unix_ms now = 1000;
  for (int round = 0; round < 200'000; ++round) {
    const std::string key = "key" + std::to_string(below(400));
    now += below(3);
    std::erase_if(model, [&](const auto& each) { return each.first == key && each.second.expires_at < now; });
    entry* item = keys.find(key, now);
    const auto known = model.find(key);
    ASSERT_EQ(item != nullptr, known != model.end());
    if (item != nullptr) {
      ASSERT_EQ(item->second.bytes, known->second.bytes);
      ASSERT_EQ(item->second.expires_at, known->second.expires_at);
    }
    const std::string value(below(40), static_cast<char>('a' + below(26)));
    switch (below(6)) {
      case 0:
      case 1:
        keys.set(key, value, now);
        model[key] = {value, never};
        break;
      case 2:
        if (item != nullptr) {
          const unix_ms when = now + below(500);
          keys.expire_at(*item, when);
          known->second.expires_at = when;
        }
        break;
      case 3:
        if (item != nullptr) {
          keys.persist(*item);
          known->second.expires_at = never;
        }
        break;
      case 4:
        if (item != nullptr) {
          keys.erase(*item);
          model.erase(known);
        }
        break;
      default:
        keys.expire_some(now, below(3));
        break;
    }
  }
  keys.expire_some(now, 1000);
  std::erase_if(model, [&](const auto& each) { return each.second.expires_at < now; });
  EXPECT_EQ(keys.size(), model.size());
}
