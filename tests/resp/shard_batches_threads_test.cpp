// tests/resp/shard_batches_threads_test.cpp: what travels between the shards of a server, and how commands are joined.
#include "programs/resp_server/exchange_op.hpp"
#include "programs/resp_server/request_batch.hpp"
#include "tests/resp/shard_server.hpp"

#include <algorithm>
#include <set>

using namespace resp_test;
using resp::command_spread;

namespace {

constexpr std::size_t all_bytes = std::size_t{1} << 40U;

// The replies to `requests` that arrive together on loop 0 of a server.
gyre::task<std::string> answer_together(resp::shard_set& shards, const std::vector<request>& requests) {
  resp::connection_state connection{.server = shards[0].info};
  resp::request_batch batch(shards, 0);
  for (const request& each : requests) {
    const std::vector<std::string_view> views(each.begin(), each.end());
    batch.add(views, resp::spread_of(views), connection);
  }
  std::string all;
  for (resp::reply_buffer replies(0); !batch.is_joined(); replies.clear()) {
    co_await batch.exchange();
    batch.join(replies, all_bytes);
    all += replies.view();
    for (resp::shard_message& each : batch.messages())
      if (each.overflowed()) each.raise_limit(all_bytes);
  }
  co_return all;
}

std::string key_of(const resp::shard_set& shards, std::size_t shard, int number = 0) {
  for (int i = 0;; ++i) {
    std::string key = "key" + std::to_string(i);
    if (shards.shard_of(key) == shard && number-- == 0) return key;
  }
}

}  // namespace

TEST(shard_batches_threads, requests_for_the_same_shard_travel_in_one_message) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    std::vector<request> requests;
    std::string expected;
    model replies;
    std::size_t elsewhere = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string key = "k" + std::to_string(i % 50);
      requests.push_back(i < 100 ? request{"SET", key, std::to_string(i)} : request{"GET", key});
      elsewhere += shards.shard_of(key) != 0 ? 1 : 0;
      expected += replies(requests.back());
    }
    EXPECT_EQ(co_await answer_together(shards, requests), expected);
    EXPECT_EQ(shards[0].info.shard_messages, 2U);
    EXPECT_EQ(shards[0].info.shard_commands, elsewhere);
    EXPECT_GT(shards[0].keys.size(), 0U);
    EXPECT_GT(shards[1].keys.size(), 0U);
    EXPECT_GT(shards[2].keys.size(), 0U);
  });
}

TEST(shard_batches_threads, requests_for_the_own_shard_send_no_message) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string key = key_of(shards, 0);
    const std::vector<request> all{{"SET", key, "1"}, {"PING"}, {"GET", key}, {"NOSUCH"}, {"GET"}};
    EXPECT_EQ(co_await answer_together(shards, all),
              "+OK\r\n+PONG\r\n$1\r\n1\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n"
              "-ERR wrong number of arguments for 'get' command\r\n");
    EXPECT_EQ(shards[0].info.shard_messages, 0U);
  });
}

TEST(shard_batches_threads, a_command_over_several_shards_counts_once_and_takes_part_in_the_messages) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string a = key_of(shards, 0);
    const std::string b = key_of(shards, 1);
    const std::string c = key_of(shards, 2);
    const std::string d = key_of(shards, 1, 1);
    const std::vector<request> all{{"MSET", a, "1", b, "2", c, "3", d, "4"},
                                   {"MGET", d, c, "none", b, a},
                                   {"EXISTS", a, b, c, d, "none", a},
                                   {"DEL", a, b, "none"},
                                   {"MGET", a, c},
                                   {"MSET", a}};
    EXPECT_EQ(co_await answer_together(shards, all),
              "+OK\r\n*5\r\n$1\r\n4\r\n$1\r\n3\r\n$-1\r\n$1\r\n2\r\n$1\r\n1\r\n:5\r\n:2\r\n*2\r\n$-1\r\n$1\r\n3\r\n"
              "-ERR wrong number of arguments for 'mset' command\r\n");
    EXPECT_EQ(shards[0].info.shard_messages, 2U);
    std::uint64_t processed = 0;
    for (std::size_t i = 0; i < 3; ++i) processed += shards[i].info.commands_processed;
    EXPECT_EQ(processed, 6U);
  });
}

TEST(shard_batches_threads, a_shard_stops_when_its_replies_get_large_and_goes_on_in_another_message) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string key = key_of(shards, 1);
    const std::string value(40'000, 'v');
    std::vector<request> requests{{"SET", key, value}};
    std::string expected = "+OK\r\n";
    for (int i = 0; i < 10; ++i) {
      requests.push_back({"GET", key});
      expected += "$40000\r\n" + value + "\r\n";
    }
    EXPECT_EQ(co_await answer_together(shards, requests), expected);
    EXPECT_GT(shards[0].info.shard_messages, 5U);
  });
}

TEST(shard_batches_threads, a_small_reply_before_one_that_does_not_fit_arrives_once) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string small = key_of(shards, 1);
    const std::string large = key_of(shards, 1, 1);
    const std::string value(200'000, 'v');
    const std::vector<request> sets{{"SET", small, "s"}, {"SET", large, value}};
    const std::vector<request> gets{{"GET", small}, {"GET", large}, {"GET", small}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n+OK\r\n");
    EXPECT_EQ(co_await answer_together(shards, gets), "$1\r\ns\r\n$200000\r\n" + value + "\r\n$1\r\ns\r\n");
  });
}

TEST(shard_batches_threads, a_large_reply_after_a_small_one_of_another_shard_arrives) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string half = key_of(shards, 1);
    const std::string small = key_of(shards, 1, 1);
    const std::string large = key_of(shards, 2);
    const std::string half_value(33'000, 'h');  // two of them are enough for one message
    const std::string large_value(200'000, 'v');
    const std::vector<request> sets{{"MSET", half, half_value, small, "s", large, large_value}};
    const std::vector<request> gets{{"GET", half}, {"GET", half}, {"GET", small}, {"GET", large}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    EXPECT_EQ(co_await answer_together(shards, gets), "$33000\r\n" + half_value + "\r\n$33000\r\n" + half_value +
                                                          "\r\n$1\r\ns\r\n$200000\r\n" + large_value + "\r\n");
  });
}

TEST(shard_batches_threads, every_command_of_the_table_is_spread) {
  std::set<std::string_view> every_shard;
  std::set<std::string_view> several;
  std::set<std::string_view> none;
  for (const resp::command& each : resp::all_commands()) {
    std::vector<std::string_view> arguments{each.name};
    while (!resp::arity_fits(each.arity, arguments.size())) arguments.emplace_back("x");
    const command_spread spread = resp::spread_of(arguments);
    if (resp::needs_every_shard(spread))
      every_shard.insert(each.name);
    else if (spread == command_spread::no_key)
      none.insert(each.name);
    else if (spread != command_spread::one_key)
      several.insert(each.name);
  }
  using names = std::set<std::string_view>;
  EXPECT_EQ(every_shard, (names{"dbsize", "flushall", "flushdb", "info", "keys"}));
  EXPECT_EQ(several, (names{"del", "exists", "mget", "mset"}));
  EXPECT_EQ(none, (names{"client", "command", "config", "echo", "hello", "ping", "quit", "reset", "select"}));
  const std::vector<std::string_view> reset{"config", "RESETSTAT"};
  EXPECT_EQ(resp::spread_of(reset), command_spread::every);
}

TEST(shard_batches_threads, mset_over_several_shards_sets_all_or_nothing_at_the_limit_of_memory) {
  resp::keyspace_options keys;
  keys.max_bytes = 100'000;
  const auto body = [](resp::shard_set& shards) -> gyre::task<> {
    const std::string a = key_of(shards, 0);
    const std::string b = key_of(shards, 1);
    const std::vector<request> sets{{"MSET", a, "1", b, "2"}};
    const std::vector<request> fills{{"SET", key_of(shards, 2), std::string(100'000, 'x')}};
    const std::vector<request> refused{{"MSET", a, "3", b, "4"}};
    const std::vector<request> refused_there{{"SET", b, "4"}};
    const std::vector<request> gets{{"MGET", a, b}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    EXPECT_EQ(co_await answer_together(shards, fills), "+OK\r\n");
    EXPECT_TRUE((co_await answer_together(shards, refused)).starts_with("-OOM "));
    EXPECT_TRUE((co_await answer_together(shards, refused_there)).starts_with("-OOM "));
    EXPECT_EQ(co_await answer_together(shards, gets), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
  };
  on_three_loops(body, keys);
}

TEST(shard_batches_threads, an_array_over_the_limit_for_a_reply_is_refused_although_its_parts_fit) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::vector<request> sets{
        {"MSET", key_of(shards, 0), std::string(1000, 'a'), key_of(shards, 1), std::string(1000, 'b')}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    const std::string a = key_of(shards, 0);
    const std::string b = key_of(shards, 1);
    const std::vector<std::string_view> get{"MGET", a, b};
    for (const std::size_t largest : {1999U, 3000U}) {
      resp::connection_state connection{.server = shards[0].info};
      resp::request_batch batch(shards, 0);
      batch.add(get, command_spread::values, connection);
      co_await batch.exchange();
      resp::reply_buffer reply;
      batch.join(reply, all_bytes, largest);
      EXPECT_TRUE(batch.is_joined());
      EXPECT_EQ(reply.view().substr(0, 4), largest < 2000 ? "-OOM" : "*2\r\n");
    }
  });
}

TEST(shard_batches_threads, a_large_array_arrives_in_pieces_and_its_large_values_are_not_copied) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    model right;
    request set{"MSET"};
    request get{"MGET"};
    for (std::size_t i = 0; i < 12; ++i) {
      const std::string key = key_of(shards, i % 3, static_cast<int>(i / 3));
      set.insert(set.end(), {key, std::string(i % 4 == 0 ? 9000 : 300, static_cast<char>('a' + i))});
      get.push_back(key);
    }
    const std::vector<request> sets{set};
    EXPECT_EQ(co_await answer_together(shards, sets), right(set));
    resp::connection_state connection{.server = shards[0].info};
    resp::request_batch batch(shards, 0);
    const std::vector<std::string_view> views(get.begin(), get.end());
    const std::vector<std::string_view> after{"PING"};
    batch.add(views, command_spread::values, connection);
    batch.add(after, command_spread::no_key, connection);
    std::string all;
    std::size_t pieces = 0;
    for (resp::reply_buffer piece; !batch.is_joined(); piece.clear()) {
      co_await batch.exchange();
      batch.join(piece, 1000);
      EXPECT_LE(piece.size(), 1000U + 400);
      all += piece.view();
      all += batch.take_large_value(1000);
      batch.release_joined();
      ++pieces;
    }
    EXPECT_EQ(all, right(get) + "+PONG\r\n");
    EXPECT_GT(pieces, 3U);
  });
}

TEST(shard_batches_threads, only_the_next_reply_gets_room_for_its_large_parts) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string a = key_of(shards, 1);
    const std::string b = key_of(shards, 2);
    const std::string value(200'000, 'v');
    const std::vector<request> sets{{"MSET", a, value, b, value}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    resp::connection_state connection{.server = shards[0].info};
    resp::request_batch batch(shards, 0);
    for (const std::string_view key : {std::string_view(a), std::string_view(b)}) {
      const std::vector<std::string_view> get{"GET", key};
      batch.add(get, command_spread::one_key, connection);
    }
    co_await batch.exchange();
    const std::size_t small = batch.allocated_bytes();
    EXPECT_TRUE(batch.next_overflowed());
    EXPECT_GE(batch.next_size(), value.size());
    EXPECT_LE(batch.next_size(), value.size() + 100);
    const std::size_t growth = batch.next_growth();
    batch.raise_next(0);
    co_await batch.exchange();
    EXPECT_LE(batch.allocated_bytes(), small + growth);
    resp::reply_buffer reply;
    batch.join(reply, all_bytes);
    EXPECT_EQ(reply.view(), "$200000\r\n" + value + "\r\n");
    EXPECT_TRUE(batch.next_overflowed());
    batch.refuse_next();
    reply.clear();
    batch.join(reply, all_bytes);
    EXPECT_TRUE(reply.view().starts_with("-OOM reply is larger than"));
    EXPECT_TRUE(batch.is_joined());
  });
}

TEST(shard_batches_threads, a_command_after_a_reply_that_needed_room_is_executed_once) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string value(40'000, 'v');  // two of them do not fit together
    const std::string key = key_of(shards, 1);
    const std::string number = key_of(shards, 1, 1);
    const std::vector<request> sets{{"SET", key, value}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    resp::connection_state connection{.server = shards[0].info};
    resp::request_batch batch(shards, 0);
    const std::vector<std::string_view> get{"GET", key};
    const std::vector<std::string_view> count{"INCR", number};
    for (const auto* each : {&get, &get, &count}) batch.add(*each, command_spread::one_key, connection);
    resp::reply_buffer reply;
    while (!batch.is_joined()) {
      co_await batch.exchange();
      batch.join(reply, all_bytes);
      if (batch.next_overflowed()) batch.raise_next(0);
    }
    EXPECT_TRUE(reply.view().ends_with(":1\r\n"));
    EXPECT_EQ(reply.size(), 2 * (8 + value.size() + 2) + 4);
  });
}
