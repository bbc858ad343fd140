// tests/resp/shard_batches_threads_test.cpp: what travels between the shards of a server, and how commands are joined.
#include "tests/resp/shard_server.hpp"

using namespace resp_test;

namespace {

void add(resp::request_batch& batch, const request& arguments) {
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  batch.add(*resp::find_command(views[0]), views);
}

// The replies to `requests` that arrive together on loop 0 of a server.
gyre::task<std::string> answer_together(resp::shard_set& shards, const std::vector<request>& requests) {
  resp::request_batch batch(shards, 0);
  for (const request& each : requests) add(batch, each);
  std::string all;
  resp::reply_buffer replies(resp::reply_limit);
  for (;;) {
    co_await batch.exchange();
    const bool joined = batch.join(replies);
    all += replies.view();
    replies.clear();
    if (joined) co_return all;
    resp::shard_message& next = batch.next();
    if (next.overflow() != 0) next.raise_limit(next.overflow());
    if (!next.has_reply() || next.next_reply().size() <= resp::max_pending_replies) continue;
    all += next.next_reply();
    batch.skip();
  }
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
    for (int i = 0; i < 200; ++i) {
      const std::string key = "k" + std::to_string(i % 50);
      requests.push_back(i < 100 ? request{"SET", key, std::to_string(i)} : request{"GET", key});
      expected += replies(requests.back());
    }
    EXPECT_EQ(co_await answer_together(shards, requests), expected);
    EXPECT_EQ(shards[0].figures.messages, 2U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_GT(shards[i].figures.keys, 0U);
  });
}

TEST(shard_batches_threads, requests_for_the_own_shard_send_no_message) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string key = key_of(shards, 0);
    const std::vector<request> all{{"SET", key, "1"}, {"PING"}, {"GET", key}};
    EXPECT_EQ(co_await answer_together(shards, all), "+OK\r\n+PONG\r\n$1\r\n1\r\n");
    EXPECT_EQ(shards[0].figures.messages, 0U);
  });
}

TEST(shard_batches_threads, the_parts_of_a_command_over_several_shards_are_joined) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string a = key_of(shards, 0);
    const std::string b = key_of(shards, 1);
    const std::string c = key_of(shards, 2);
    const std::string d = key_of(shards, 1, 1);
    const std::vector<request> all{{"MSET", a, "1", b, "2", c, "3", d, "4"},
                                   {"MGET", d, c, "none", b, a},
                                   {"EXISTS", a, b, c, d, "none", a},
                                   {"DEL", a, b, "none"},
                                   {"MGET", a, c}};
    EXPECT_EQ(co_await answer_together(shards, all),
              "+OK\r\n*5\r\n$1\r\n4\r\n$1\r\n3\r\n$-1\r\n$1\r\n2\r\n$1\r\n1\r\n:5\r\n:2\r\n*2\r\n$-1\r\n$1\r\n3\r\n");
    EXPECT_EQ(shards[0].figures.messages, 2U);
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
    EXPECT_GT(shards[0].figures.messages, 5U);
  });
}

TEST(shard_batches_threads, large_replies_stay_between_the_small_ones_around_them) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    model right;
    std::vector<request> requests;
    for (int i = 0; i < 9; ++i) {
      const std::string key = key_of(shards, static_cast<std::size_t>(i % 3), i / 3);
      const std::size_t size = i % 4 == 0 ? 200'000 : i % 4 == 1 ? 33'000 : 3;
      requests.push_back({"SET", key, std::string(size, static_cast<char>('a' + i))});
    }
    for (int round = 0; round < 3; ++round)
      for (std::size_t i = 0; i < 9; ++i) requests.push_back({"GET", requests[i * 4 % 9][1]});
    requests.push_back({"MGET", requests[0][1], requests[1][1], "none", requests[4][1], requests[2][1]});
    requests.push_back({"INCR", "n"});  // executed once, although it follows a reply that needed room
    std::string expected;
    for (const request& each : requests) expected += right(each);
    const std::string got = co_await answer_together(shards, requests);
    EXPECT_EQ(got.size(), expected.size());
    EXPECT_TRUE(got == expected);
  });
}

TEST(shard_batches_threads, a_reply_that_does_not_fit_can_be_refused) {
  on_three_loops([](resp::shard_set& shards) -> gyre::task<> {
    const std::string key = key_of(shards, 1);
    const std::vector<request> sets{{"SET", key, std::string(200'000, 'v')}};
    EXPECT_EQ(co_await answer_together(shards, sets), "+OK\r\n");
    resp::request_batch batch(shards, 0);
    const request get{"GET", key};
    const request exists{"EXISTS", key};
    for (const request* each : {&exists, &get, &exists}) add(batch, *each);
    resp::reply_buffer replies(resp::reply_limit);
    co_await batch.exchange();
    EXPECT_FALSE(batch.join(replies));
    EXPECT_GE(batch.next().overflow(), 200'000U);
    EXPECT_LE(batch.next().overflow(), 200'100U);
    EXPECT_LE(batch.allocated_bytes(), resp::reply_limit);
    batch.next().refuse(resp::reply_text::too_large);
    while (!batch.join(replies)) co_await batch.exchange();
    EXPECT_EQ(replies.view(), ":1\r\n" + std::string(resp::reply_text::too_large) + ":1\r\n");
  });
}
