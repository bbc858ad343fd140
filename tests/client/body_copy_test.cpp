// tests/client/body_copy_test.cpp: bodies of responses that are passed on to the clients of a server.
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>
#include <gyre/tls.hpp>

#include "tests/client/passing_server.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
namespace tls = gyre::tls;

TEST(body_copy, of_several_bodies_uses_pipes_and_passes_on_each_byte_over_connections_that_stay) {
  with_passing_server([](passing_origin& origin, passing_server& server) -> gyre::task<> {
    const auto orders = several("sized");
    co_await fetch_at_once(server, orders, 3);
    EXPECT_GT(pipes().lent(), 10U);
    EXPECT_EQ(origin.server.connections(), 4);
    EXPECT_EQ(server.passed().size(), 12U);
    for (const passing& each : server.passed()) EXPECT_EQ(each.copied, much) << each.error;
  });
}

TEST(body_copy, of_more_bodies_than_there_are_pipes_passes_on_each_byte) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto orders = several("sized", 24, 1'000'000);
    co_await fetch_at_once(server, orders);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(body_copy, of_a_body_that_alone_is_bulk_uses_no_pipe) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto orders = several("sized", 1);
    co_await fetch_at_once(server, orders);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(body_copy, ends_with_the_body_wherever_the_pieces_end) {
  with_passing_server([](passing_origin& origin, passing_server& server) -> gyre::task<> {
    std::vector<ordered_body> orders;
    for (const std::size_t size : {1U << 20U, (1U << 20U) + 1, (1U << 20U) - 1, 3U << 20U, 1'048'576U + 16'384U,
                                   600'000U, 16'384U, 32'768U, 1U, 16'385U})
      orders.push_back({"sized", static_cast<unsigned>(size), size});
    co_await fetch_at_once(server, orders, 3);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(origin.server.connections(), static_cast<int>(orders.size()));
  });
}

TEST(body_copy, leaves_bytes_beyond_the_body_and_gives_up_their_connection) {
  with_passing_server([](passing_origin& origin, passing_server& server) -> gyre::task<> {
    const auto orders = several("more", 3, 1'000'000);
    co_await fetch_at_once(server, orders, 3);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(origin.server.connections(), 9);
  });
}

TEST(body_copy, of_a_body_that_ends_with_its_connection_uses_pipes_for_a_client_of_http_1_0) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"end", seed, much}, "GET", "1.0");
      (void)co_await client.head();
      EXPECT_EQ(co_await client.read(seed, much + 1), much);
      EXPECT_FALSE(client.was_reset());
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(body_copy, of_a_sized_body_uses_pipes_for_a_client_of_http_1_0) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"sized", seed, much}, "GET", "1.0");
      (void)co_await client.head();
      EXPECT_EQ(co_await client.read(seed, much + 1), much);
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(body_copy, into_chunks_uses_no_pipe) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      http::client client;
      auto response = co_await client.get("http://" + server.where() + ordered_body{"end", seed, much}.target());
      EXPECT_FALSE(response.body().length());
      const std::string body = co_await response.read_all();
      EXPECT_TRUE(body == patterned(seed, 0, much));
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(body_copy, out_of_chunks_uses_no_pipe) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"chunked", seed, much}, "GET", "1.0");
      (void)co_await client.head();
      EXPECT_EQ(co_await client.read(seed, much + 1), much);
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(body_copy, of_a_response_to_head_writes_nothing) {
  with_passing_server([](passing_origin& origin, passing_server& server) -> gyre::task<> {
    auto client = co_await checking_client::connect(server);
    for (int n = 0; n < 2; ++n) {
      co_await client.ask({"sized", 1, much}, "HEAD");
      const std::string head = co_await client.head();
      EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
      EXPECT_EQ(client.received(), "");
    }
    EXPECT_EQ(origin.server.connections(), 1);
  });
}

// The first server reads what the second has compressed and encrypted.
TEST(body_copy, of_encrypted_or_compressed_bodies_uses_no_pipe) {
  for (const bool encrypts : {false, true}) {
    run_bulk([encrypts]() -> gyre::task<> {
      const auto certificate = tls::certificate::self_signed({"127.0.0.1"});
      http::server_options options;
      http::client_options trusting;
      if (encrypts) {
        tls::server_options shown;
        shown.certificates.push_back(certificate);
        options.encryption = tls::server_sessions(tls::server_config(shown));
        trusting.tls = tls::client_config({.authorities = certificate.chain});
      }
      passing_origin origin;
      passing_server inner(origin.url(), {}, std::move(options), !encrypts);
      passing_server outer((encrypts ? "https://" : "http://") + inner.where(), trusting);
      origin.start();
      inner.start();
      outer.start();
      const auto orders = several("sized", 2);
      const auto fetch = [&](ordered_body order) -> gyre::task<> {
        http::client client;
        auto response = co_await client.get("http://" + outer.where() + order.target());
        const std::string body = co_await response.read_all();
        EXPECT_TRUE(body == patterned(order.seed, 0, much));
      };
      auto both = gyre::gather(fetch(orders[0]), fetch(orders[1]));
      co_await std::move(both);
      EXPECT_EQ(pipes().lent(), 0U);
      co_await outer.stop();
      co_await inner.stop();
      co_await origin.stop();
    });
  }
}

TEST(body_copy, of_an_answer_without_a_server_writes_it) {
  run_bulk([]() -> gyre::task<> {
    passing_origin origin(say_hello);
    passing_server server(origin.url());
    origin.start();
    server.start();
    http::client client;
    auto response = co_await client.get("http://" + server.where() + "/");
    EXPECT_EQ(co_await response.read_all(), "hello");
    EXPECT_EQ(server.passed().at(0).copied, 5U);
    co_await server.stop();
    co_await origin.stop();
  });
}

TEST(body_copy, passes_on_the_head_before_the_first_byte_of_the_body_comes) {
  gyre::testing::run_test([]() -> gyre::task<> {
    using gyre::testing::http_mock_server;
    http_mock_server origin([](http::request&) { return http::response::text("never"); });
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
