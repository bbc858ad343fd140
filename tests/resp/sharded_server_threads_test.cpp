// tests/resp/sharded_server_threads_test.cpp: clients of a server with three loops see a single keyspace.
#include "tests/resp/shard_server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/seeds.hpp"

using namespace resp_test;
using gyre_test::choices;

namespace {

sharded server_for(choices& choose) {
  sharded options;
  options.loop.backend.buffer_count = 16U << choose.below(5);
  options.loop.backend.buffer_size = 512U << choose.below(6);
  const std::array<int, 4> turns{1, 2, 5, 128};
  options.loop.ready_per_turn = turns[choose.below(4)];
  if (choose.one_in(2)) options.accept = gyre::accept_mode::reuse_port;
  return options;
}

std::string any_value(choices& choose) {
  return std::string(choose.one_in(20) ? choose.below(200'000) : choose.below(30),
                     static_cast<char>('a' + choose.below(26)));
}

// A request over the keys that begin with `prefix`. Its reply does not depend on the time.
request any_request(choices& choose, const std::string& prefix) {
  const auto key = [&] { return prefix + std::to_string(choose.below(12)); };
  const std::array<const char*, 4> with_keys{"DEL", "EXISTS", "MGET", "MSET"};
  request all{with_keys[choose.below(4)]};
  switch (choose.below(10)) {
    case 0:
      return {"PING", any_value(choose)};
    case 1:
      return {"INCR", key()};
    case 2:
      return {"SET", key(), any_value(choose), choose.one_in(2) ? "NX" : "XX", "GET"};
    case 3:
      return {"EXPIRE", key(), choose.one_in(4) ? "-1" : "10000"};
    case 4:
      return choose.one_in(2) ? request{"NOSUCH", key()} : request{"MSET", key()};
    case 5:
      return {"SET", key(), std::to_string(choose.below(1000))};
    case 6:
      return {"GET", key()};
    default:
      for (std::size_t i = choose.between(1, 8); i > 0; --i) {
        all.push_back(key());
        if (all[0] == "MSET") all.push_back(any_value(choose));
      }
      return all;
  }
}

// Pipelines requests, in pieces, and compares the replies.
gyre::task<> compare(gyre::address where, unsigned seed, std::string prefix) {
  choices choose(seed);
  model right;
  client mine = co_await client::connect(where);
  for (int batch = 0; batch < 15; ++batch) {
    std::string bytes;
    std::vector<std::pair<request, std::string>> expected;
    std::size_t size = 0;
    for (std::size_t i = choose.size_up_to(80); i > 0; --i) {
      request next = any_request(choose, prefix);
      std::string reply = right(next);
      bytes += encoded(next);
      size += reply.size();
      expected.emplace_back(std::move(next), std::move(reply));
    }
    auto send = [&]() -> gyre::task<> {
      for (std::string_view rest = bytes; !rest.empty();) {
        const std::string_view piece = rest.substr(0, choose.one_in(2) ? rest.size() : choose.size_up_to(rest.size()));
        co_await mine.send(piece);
        rest.remove_prefix(piece.size());
      }
    };
    std::string received;
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(send());
      while (received.size() < size) {
        const gyre::buffer_lease more = co_await mine.stream().receive();
        if (!more) break;
        received += more.text();
      }
    };
    auto within_time = [&]() -> gyre::task<> { co_await gyre::task_group::scope(both); };
    try {
      co_await gyre::timeout(std::chrono::seconds(20), within_time);
    } catch (const gyre::timed_out&) {  // the comparison shows which reply is missing
    }
    std::size_t at = 0;
    for (const auto& [asked, reply] : expected) {
      const std::string got = received.substr(std::min(at, received.size()), reply.size());
      at += reply.size();
      if (got == reply) continue;
      ADD_FAILURE() << "batch " << batch << ", " << asked[0] << " " << (asked.size() > 1 ? asked[1] : "") << ": got "
                    << got.substr(0, 200) << ", expected " << reply.substr(0, 200);
      co_return;
    }
  }
}

// Sends requests, and leaves before it has read all replies.
gyre::task<> leave_in_the_middle(gyre::address where, unsigned seed) {
  choices choose(seed);
  client mine = co_await client::connect(where);
  std::string bytes;
  for (std::size_t i = choose.size_up_to(300); i > 0; --i) {
    bytes += encoded(any_request(choose, "left"));
  }
  bytes.resize(choose.between(1, bytes.size()));
  auto use = [&]() -> gyre::task<> {
    co_await mine.send(bytes);
    if (choose.one_in(2)) (void)co_await mine.read(1);
  };
  try {
    co_await gyre::timeout(std::chrono::milliseconds(choose.below(3)), use);
  } catch (const gyre::io_error&) {
  }
  if (choose.one_in(2)) {  // a reset
    const linger now{.l_onoff = 1, .l_linger = 0};
    (void)::setsockopt(mine.stream().socket().fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
}

// Sends requests, and reads replies until the connection ends.
gyre::task<> stay_to_the_end(gyre::address where, unsigned seed) {
  choices choose(seed);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += encoded(any_request(choose, "stay"));
  try {
    client mine = co_await client::connect(where);
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(mine.send(bytes));
      (void)co_await mine.rest();
    };
    co_await gyre::task_group::scope(both);
  } catch (const std::exception&) {  // a reset
  }
}

// Asks for large replies, and leaves, resets, or reads everything.
gyre::task<> compete_for_memory(gyre::address where, unsigned seed) {
  choices choose(seed);
  try {
    client mine = co_await client::connect(where);
    std::string bytes;
    for (std::size_t i = choose.between(1, 6); i > 0; --i) {
      request next{"MGET"};
      for (std::size_t keys = choose.between(1, 12); keys > 0; --keys)
        next.push_back("large" + std::to_string(choose.below(16)));
      bytes += encoded(next);
    }
    bytes += "*x\r\n";  // ends the connection
    co_await mine.send(bytes);
    if (choose.one_in(2)) {
      (void)co_await mine.rest();
    } else {
      co_await gyre::sleep(std::chrono::milliseconds(choose.below(20)));
    }
    if (choose.one_in(2)) {  // a reset
      const linger now{.l_onoff = 1, .l_linger = 0};
      (void)::setsockopt(mine.stream().socket().fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
  } catch (const gyre::io_error&) {  // evicted
  }
}

}  // namespace

TEST(sharded_server_threads, one_client_gets_exactly_the_replies_of_a_single_keyspace) {
  gyre_test::for_each_seed(20, [](unsigned seed) {
    choices choose(seed);
    beside_shards(server_for(choose),
                  [&](gyre::address where, resp::shard_set&) -> gyre::task<> { co_await compare(where, seed, "key"); });
  });
}

TEST(sharded_server_threads, clients_with_keys_of_their_own_get_exactly_their_replies) {
  gyre_test::for_each_seed(10, [](unsigned seed) {
    choices choose(seed);
    beside_shards(server_for(choose), [&](gyre::address where, resp::shard_set&) -> gyre::task<> {
      auto all = [&](gyre::task_group& group) -> gyre::task<> {
        for (unsigned i = 0; i < 8; ++i) group.spawn(compare(where, seed * 100 + i, "c" + std::to_string(i) + ":"));
        co_return;
      };
      co_await gyre::task_group::scope(all);
    });
  });
}

TEST(sharded_server_threads, clients_that_leave_in_the_middle_of_a_batch_disturb_nobody) {
  gyre_test::for_each_seed(10, [](unsigned seed) {
    choices choose(seed);
    beside_shards(server_for(choose), [&](gyre::address where, resp::shard_set& shards) -> gyre::task<> {
      auto all = [&](gyre::task_group& group) -> gyre::task<> {
        for (unsigned i = 0; i < 20; ++i) group.spawn(leave_in_the_middle(where, seed * 100 + i));
        group.spawn(compare(where, seed, "steady"));
        co_return;
      };
      co_await gyre::task_group::scope(all);
      client last = co_await client::connect(where);
      while (shards.sum(&resp::shard_figures::client_bytes) != 1024) co_await gyre::yield();  // one idle client
    });
  });
}

TEST(sharded_server_threads, a_server_ends_in_the_middle_of_batches) {
  gyre_test::for_each_seed(20, [](unsigned seed) {
    choices choose(seed);
    sharded options = server_for(choose);
    options.drain = std::chrono::microseconds(choose.below(2000));
    beside_shards(options, [&](gyre::address where, resp::shard_set&) -> gyre::task<> {
      for (unsigned i = 0; i < 8; ++i) gyre::spawn(stay_to_the_end(where, seed * 100 + i)).detach();
      client first = co_await client::connect(where);
      for (std::size_t i = choose.below(30); i > 0; --i) {
        const request next = any_request(choose, "first");
        co_await first.ask(next);
      }
    });
  });
}

TEST(sharded_server_threads, clients_that_compete_for_memory_all_end_and_release_it) {
  gyre_test::for_each_seed(10, [](unsigned seed) {
    choices choose(seed);
    sharded options = server_for(choose);
    options.limits.all_clients = 3 * choose.between(1'000'000, 6'000'000);
    options.limits.output_buffer = choose.between(500'000, 8'000'000);
    beside_shards(options, [&](gyre::address where, resp::shard_set& shards) -> gyre::task<> {
      client first = co_await client::connect(where);
      for (int i = 0; i < 16; ++i) {
        const request set{"SET", "large" + std::to_string(i), std::string(choose.below(600'000), 'x')};
        EXPECT_EQ(co_await first.ask(set), "+OK\r\n");
      }
      auto all = [&](gyre::task_group& group) -> gyre::task<> {
        for (unsigned i = 0; i < 40; ++i) group.spawn(compete_for_memory(where, seed * 100 + i));
        co_return;
      };
      co_await gyre::task_group::scope(all);
      while (shards.sum(&resp::shard_figures::client_bytes) != 1024) co_await gyre::yield();  // one idle client
    });
  });
}
