// tests/client/upload_copy_test.cpp: bodies of requests that a server passes on to a server behind it.
#include "tests/client/relay_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

constexpr std::size_t huge = 40'000'000;

gyre::task<> expect_taken(relay_client& client) {
  const std::string answer = co_await client.answer();
  EXPECT_EQ(answer, "200 taken");
}

}  // namespace

TEST(upload_copy, the_next_request_may_follow_at_once) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      const auto ask = [&]() -> gyre::task<> {
        for (int n = 0; n < 3; ++n) co_await client.put({"take", seed, much}, much);
      };
      const auto read = [&]() -> gyre::task<> {
        for (int n = 0; n < 3; ++n) co_await expect_taken(client);
      };
      auto both = gyre::gather(ask(), read());
      co_await std::move(both);
    });
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(upload_copy, bodies_after_100_continue_go_through_pipes) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      co_await client.begin({"take", seed, much}, "Expect: 100-continue\r\n");
      const std::string go_on = co_await client.head();
      EXPECT_TRUE(go_on.starts_with("HTTP/1.1 100 ")) << go_on;
      (void)co_await client.messages().give(seed, 0, much);
      co_await expect_taken(client);
    });
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(upload_copy, bodies_in_chunks_use_no_pipe) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      std::string text = "PUT /take/" + std::to_string(seed) + "/0 HTTP/1.1\r\nHost: a\r\n";
      text += "Transfer-Encoding: chunked\r\n\r\n2dc6c0\r\n" + patterned(seed, 0, much) + "\r\n0\r\n\r\n";
      (void)co_await client.stream().write_all(text);
      co_await expect_taken(client);
    });
    for (const relayed_body& each : server.passed()) EXPECT_EQ(each.bytes, much) << each.error;
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(upload_copy, an_early_answer_of_the_server_behind_is_passed_on) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      auto giving = gyre::spawn(client.put({"early", seed, huge}, huge));
      const std::string answer = co_await client.answer();
      EXPECT_EQ(answer, "413 large");
      giving.cancel();
      co_await giving.wait();
    });
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
    for (const relayed_body& each : server.passed()) EXPECT_FALSE(each.source_failed);
  });
}

TEST(upload_copy, a_reset_by_the_server_behind_is_no_failure_of_the_client) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      co_await client.put({"reset", seed, huge}, huge);
    });
    co_await server.until_passed(2);
    for (const relayed_body& each : server.passed()) {
      EXPECT_FALSE(each.source_failed);
      EXPECT_NE(each.error, "");
    }
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

TEST(upload_copy, a_client_that_ends_its_body_too_early_is_told_apart_from_the_server_behind) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      co_await client.put({"take", seed, 2 * much}, much);
      co_await client.stream().shutdown_write();
      (void)co_await client.answer();
    });
    co_await server.until_passed(2);
    for (const relayed_body& each : server.passed()) {
      EXPECT_TRUE(each.source_failed);
      EXPECT_EQ(each.bytes, much);
      EXPECT_NE(each.error.find("the body"), std::string::npos) << each.error;
    }
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

// Nothing looks for the end of the client while pieces pass; afterwards it has to be seen again.
TEST(upload_copy, a_client_that_resets_its_connection_within_or_after_its_body_ends_the_copy) {
  for (const ordered_body& order : {ordered_body("take", 1, 2 * much), ordered_body("mute", 1, much)})
    with_relay([&](relayed_origin&, relay& server) -> gyre::task<> {
      co_await two_clients(server, [&](relay_client& client, unsigned) -> gyre::task<> {
        co_await client.put(order, much);
        client.leave();
      });
      co_await server.until_passed(2);
      for (const relayed_body& each : server.passed()) EXPECT_TRUE(each.source_failed || each.cancelled) << each.error;
      EXPECT_EQ(server.client().counts().in_use, 0U);
    });
}

TEST(upload_copy, a_client_that_stalls_is_refused_at_the_limit_of_bodies) {
  http::server_options options;
  options.timeouts.body = 1s;  // on a busy machine, a client that sends needs a part of it
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
          co_await client.put({"take", seed, 2 * much}, much);
          const std::string answer = co_await client.answer();
          EXPECT_TRUE(answer.starts_with("408 ")) << answer;
        });
        EXPECT_GT(pipes().lent(), 0U);
        for (const relayed_body& each : server.passed()) {
          EXPECT_TRUE(each.source_failed);
          EXPECT_EQ(each.bytes, much);
        }
      },
      {}, std::move(options));
}

TEST(upload_copy, the_total_time_of_the_request_ends_a_copy) {
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        stalled_bodies stalled(server, direction::upload);
        co_await stalled.begin();
        co_await server.until_passed(2);
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const relayed_body& each : server.passed())
          EXPECT_NE(each.error.find("timed out after 2 s"), std::string::npos) << each.error;
        co_await stalled.end();
      },
      {.timeouts = {.total = 2s}});
}

TEST(upload_copy, a_server_that_reads_slowly_may_take_longer_than_the_limit_of_the_client) {
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        const auto orders = several("slower", 2, 4'000'000);
        co_await move_at_once(server, direction::upload, orders);
        EXPECT_GT(pipes().lent(), 0U);
      },
      {.timeouts = {.between_bytes = 500ms}});
}

// A Unix socket does not tell what the server has taken, only what the kernel has.
TEST(upload_copy, a_slow_server_on_a_unix_socket_may_take_longer_than_the_limit_of_the_client) {
  constexpr std::size_t size = 2'000'000;
  const std::string name = "@gyre-upload-copy-" + std::to_string(::getpid());
  const auto take_slowly = [](gyre::unix_stream stream) -> gyre::task<> {
    std::vector<char> piece(70'000);  // each 60 ms: 700 KB within the limit
    for (std::size_t taken = 0; taken < size;) {
      const std::size_t count = co_await stream.read_some(std::span<char>(piece));
      if (count == 0) co_return;
      taken += count;
      co_await gyre::sleep(60ms);
    }
    (void)co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntaken");
    (void)co_await stream.read_some(std::span<char>(piece));
  };
  http::client_options options;
  options.timeouts.between_bytes = 600ms;
  options.unix_socket = name;
  with_relay(
      [&](relayed_origin&, relay& server) -> gyre::task<> {
        auto listener = gyre::unix_listener::bind(gyre::unix_address(name));
        auto origin = gyre::spawn(listener.serve(take_slowly));
        const auto orders = several("take", 2, size);
        co_await move_at_once(server, direction::upload, orders);
        EXPECT_GT(pipes().lent(), 0U);
        origin.cancel();
        co_await origin.wait();
      },
      options);
}

TEST(upload_copy, a_body_beyond_the_limit_is_refused_before_a_byte_is_passed_on) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    server.set_limit(much);
    const auto put = [&](unsigned seed, std::size_t size, std::string expected) -> gyre::task<> {
      auto client = co_await relay_client::connect(server);
      co_await client.put({"take", seed, size}, std::min(size, much));
      const std::string answer = co_await client.answer();
      EXPECT_TRUE(answer.starts_with(expected)) << answer;
    };
    auto all = gyre::gather(put(1, much, "200 taken"), put(2, much, "200 taken"), put(3, much + 1, "413 "));
    co_await std::move(all);
    EXPECT_GT(pipes().lent(), 0U);
    std::vector<std::uint64_t> received;
    for (const relayed_body& each : server.passed()) received.push_back(each.bytes);
    std::ranges::sort(received);
    EXPECT_EQ(received, (std::vector<std::uint64_t>{0, much, much}));
  });
}
