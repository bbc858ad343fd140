// tests/client/download_copy_test.cpp: bodies of responses that are passed on to the clients of a server.
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/client/relay_client.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

struct noted_exchanges : http::exchange_observer {
  void answered(const http::exchange& what) noexcept override {
    bytes.push_back(what.body_bytes);
    complete.push_back(what.complete);
  }
  std::vector<std::uint64_t> bytes;
  std::vector<bool> complete;
};

/// Gets two bodies at the same time by clients of the library, which understand every framing.
gyre::task<> fetch_two(const relay& server, std::string kind) {
  const auto fetch = [&](unsigned seed) -> gyre::task<> {
    http::client client;
    auto response = co_await client.get("http://" + server.where() + ordered_body{kind, seed, much}.target());
    const std::string body = co_await response.read_all();
    EXPECT_TRUE(body == patterned(seed, 0, much));
  };
  auto both = gyre::gather(fetch(1), fetch(2));
  co_await std::move(both);
}

}  // namespace

TEST(download_copy, bytes_beyond_the_body_stay_behind_and_their_connection_is_given_up) {
  with_relay([](relayed_origin& origin, relay& server) -> gyre::task<> {
    const auto orders = several("more", 3, 1'000'000);
    co_await move_at_once(server, direction::download, orders, 3);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(origin.server.connections(), 9);
  });
}

TEST(download_copy, bodies_for_clients_of_http_1_0_go_through_pipes_unless_they_come_in_chunks) {
  for (const std::string kind : {"sized", "end", "chunked"})
    with_relay([&](relayed_origin&, relay& server) -> gyre::task<> {
      co_await two_clients(server, [&](relay_client& client, unsigned seed) -> gyre::task<> {
        EXPECT_EQ(co_await client.get({kind, seed, much}, much + 1, "1.0"), much);
        EXPECT_FALSE(client.messages().was_reset());
      });
      EXPECT_EQ(pipes().lent() > 0, kind != "chunked") << kind;
    });
}

TEST(download_copy, bodies_that_go_on_in_chunks_use_no_pipe) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    co_await fetch_two(server, "end");
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

// The second server compresses what the first one decompresses.
TEST(download_copy, compressed_bodies_use_no_pipe) {
  run_bulk([]() -> gyre::task<> {
    relayed_origin origin;
    relay inner(origin.url(), {}, {}, true);
    relay outer("http://" + inner.where());
    origin.start();
    inner.start();
    outer.start();
    co_await fetch_two(outer, "sized");
    EXPECT_EQ(pipes().lent(), 0U);
    co_await outer.stop();
    co_await inner.stop();
    co_await origin.stop();
  });
}

TEST(download_copy, a_response_to_head_has_nothing_to_write) {
  with_relay([](relayed_origin& origin, relay& server) -> gyre::task<> {
    auto client = co_await relay_client::connect(server);
    for (int n = 0; n < 2; ++n) {
      co_await client.ask({"sized", 1, much}, "HEAD");
      const std::string head = co_await client.head();
      EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
      EXPECT_EQ(client.messages().received(), "");
    }
    EXPECT_EQ(origin.server.connections(), 1);
  });
}

TEST(download_copy, a_small_answer_is_written) {
  run_bulk([]() -> gyre::task<> {
    relayed_origin origin(say_hello);
    relay server(origin.url());
    origin.start();
    server.start();
    http::client client;
    EXPECT_EQ(co_await fetched(client, "http://" + server.where() + "/"), "hello");
    EXPECT_EQ(server.passed().at(0).bytes, 5U);
    co_await server.stop();
    co_await origin.stop();
  });
}

TEST(download_copy, the_head_is_passed_on_before_the_first_byte_of_the_body_comes) {
  gyre::testing::run_test([]() -> gyre::task<> {
    using gyre::testing::http_mock_server;
    http_mock_server origin;
    origin.reply_bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", http_mock_server::then::stay_open);
    http::client inner({.connector = origin.connector()});
    const auto pass_on = [&inner](http::request&) -> gyre::task<http::response> {
      auto from = co_await inner.get("http://origin.test/");
      auto body = [from = std::move(from)](http::body_writer& to) mutable -> gyre::task<> {
        (void)co_await from.body().copy_to(to);
      };
      co_return http::response::stream(std::move(body));
    };
    http_mock_server server(pass_on);
    http::client outer({.connector = server.connector()});
    const auto begin = gyre::now();
    auto response = co_await outer.get("http://server.test/");
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(gyre::now() - begin, 0s);
  });
}

TEST(download_copy, a_body_that_breaks_off_is_cut_off_for_the_client_and_the_failure_is_that_of_the_server_behind) {
  struct breaking {
    std::string kind, error;
    http::client_timeouts limits = {};
  };
  for (const breaking& each :
       std::vector<breaking>{{"reset", ""},
                             {"short", "the connection ended within the response"},
                             {"stall", "(receiving the body): timed out after 100 ms", {.between_bytes = 100ms}},
                             {"stall", "timed out after 1 s", {.total = 1s}}})
    with_relay(
        [&](relayed_origin&, relay& server) -> gyre::task<> {
          co_await two_clients(server, [&](relay_client& client, unsigned seed) -> gyre::task<> {
            const ordered_body order(each.kind, seed, 2 * much);
            (void)co_await client.get(order, 0);
            co_await client.expect_cut_off(order);
          });
          co_await server.until_passed(2);
          for (const relayed_body& failed : server.passed()) {
            EXPECT_TRUE(failed.source_failed);
            EXPECT_NE(failed.error.find(each.error), std::string::npos) << failed.error;
          }
          EXPECT_GT(pipes().lent(), 0U);
          EXPECT_EQ(server.client().counts().in_use, 0U);
        },
        {.timeouts = each.limits});
}

TEST(download_copy, a_client_that_leaves_is_no_failure_of_the_server_behind) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    stalled_bodies stalled(server, direction::download);
    co_await stalled.begin();
    for (auto& each : stalled.clients) each.leave();
    co_await server.until_passed(2);
    for (const relayed_body& each : server.passed()) EXPECT_FALSE(each.source_failed) << each.error;
    EXPECT_EQ(pipes().in_use(), 0U);
  });
}

TEST(download_copy, a_client_that_reads_slowly_may_take_longer_than_the_limit_of_a_write) {
  http::server_options options;
  options.timeouts.write = 200ms;
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
          client.stream().set_receive_buffer_size(100'000);
          (void)co_await client.get({"sized", seed, 2 * much}, 0);
          for (std::size_t read = 0; read < 2 * much;) {
            read = std::min<std::size_t>(read + 200'000, 2 * much);
            EXPECT_EQ(co_await client.read(seed, read), read);
            co_await gyre::sleep(20ms);
          }
        });
        EXPECT_GT(pipes().lent(), 0U);
      },
      {}, std::move(options));
}

TEST(download_copy, a_cancel_while_it_waits_for_bytes_cuts_the_response_off) {
  http::server_options options;
  options.timeouts.drain = 10ms;
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        gyre::latch both_wait(2);
        co_await two_clients(server, [&](relay_client& client, unsigned seed) -> gyre::task<> {
          const ordered_body order("stall", seed, 2 * much);
          EXPECT_EQ(co_await client.get(order, much), much);
          co_await both_wait.arrive_and_wait();
          if (seed == 1) server.tell_to_stop();
          co_await client.expect_cut_off(order);
        });
        for (const relayed_body& each : server.passed()) {
          EXPECT_TRUE(each.cancelled);
          EXPECT_FALSE(each.source_failed);
        }
        EXPECT_GT(pipes().lent(), 0U);
      },
      {}, std::move(options));
}

TEST(download_copy, a_copy_that_runs_when_the_server_is_told_to_stop_comes_to_its_end) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    stalled_bodies stalled(server, direction::download);
    co_await stalled.begin();
    server.tell_to_stop();
    const auto finish = [&](unsigned n) -> gyre::task<> {
      relay_client& client = stalled.clients[n];
      EXPECT_EQ(co_await client.read(n, stalled_bodies::size), stalled_bodies::size);
      EXPECT_TRUE(co_await client.messages().at_end());
      EXPECT_FALSE(client.messages().was_reset());
    };
    auto both = gyre::gather(finish(0), finish(1));
    co_await std::move(both);
    co_await server.stopped();
  });
}

TEST(download_copy, the_observer_of_the_server_counts_whole_and_partial_copies) {
  noted_exchanges noted;
  http::server_options options;
  options.observer = &noted;
  options.timeouts.write = 100ms;
  with_relay(
      [&](relayed_origin&, relay& server) -> gyre::task<> {
        const auto orders = several("sized", 3);
        co_await move_at_once(server, direction::download, orders);
        for (int n = 0; n < 1000 && noted.bytes.size() < 3; ++n) co_await gyre::sleep(1ms);
        EXPECT_EQ(noted.bytes, std::vector<std::uint64_t>(3, much));
        EXPECT_EQ(noted.complete, std::vector<bool>(3, true));
        stalled_bodies stalled(server, direction::download);
        co_await stalled.begin();
        for (int n = 0; n < 5000 && noted.bytes.size() < 5; ++n) co_await gyre::sleep(1ms);
        CO_ASSERT_EQ(noted.bytes.size(), 5U);
        for (std::size_t n = 3; n < 5; ++n) {
          EXPECT_FALSE(noted.complete[n]);
          EXPECT_GT(noted.bytes[n], 50'000U);
          EXPECT_LT(noted.bytes[n], stalled_bodies::size);
        }
      },
      {}, std::move(options));
}

TEST(download_copy, a_body_that_is_longer_than_the_response_announces_is_refused) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    server.announce(much);
    co_await two_clients(server, [](relay_client& client, unsigned seed) -> gyre::task<> {
      const ordered_body order("sized", seed, 2 * much);
      (void)co_await client.get(order, 0);
      co_await client.expect_cut_off(order);
    });
    co_await server.until_passed(2);
    for (const relayed_body& each : server.passed())
      EXPECT_EQ(each.error, "the body of the response is longer than was announced");
  });
}
