// tests/client/body_copy_test.cpp: bodies that a server passes on, of responses to its clients and of their requests.
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/tls.hpp>

#include "tests/client/relay_client.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
namespace tls = gyre::tls;

class body_copy : public testing::TestWithParam<direction> {};
INSTANTIATE_TEST_SUITE_P(both_directions, body_copy, testing::Values(direction::download, direction::upload),
                         [](const auto& tried) {
                           return std::string(tried.param == direction::download ? "download" : "upload");
                         });

TEST_P(body_copy, several_bodies_go_through_pipes_over_connections_that_stay) {
  with_relay([](relayed_origin& origin, relay& server) -> gyre::task<> {
    const auto orders = several(GetParam());
    co_await move_at_once(server, GetParam(), orders, 3);
    EXPECT_GT(pipes().lent(), 10U);
    EXPECT_EQ(origin.server.connections(), 4);
    EXPECT_EQ(server.passed().size(), 12U);
    for (const relayed_body& each : server.passed()) EXPECT_EQ(each.bytes, much) << each.error;
  });
}

TEST_P(body_copy, more_bodies_than_there_are_pipes_arrive_whole) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    const auto orders = several(GetParam(), 24, 1'000'000);
    co_await move_at_once(server, GetParam(), orders);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST_P(body_copy, a_body_that_alone_is_bulk_uses_no_pipe) {
  with_relay([](relayed_origin&, relay& server) -> gyre::task<> {
    const auto orders = several(GetParam(), 1);
    co_await move_at_once(server, GetParam(), orders, 2);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST_P(body_copy, a_copy_ends_with_the_body_wherever_its_pieces_end) {
  with_relay([](relayed_origin& origin, relay& server) -> gyre::task<> {
    std::vector<ordered_body> orders;
    for (const std::size_t size : {1U << 20U, (1U << 20U) + 1, (1U << 20U) - 1, 3U << 20U, 1'048'576U + 16'384U,
                                   600'000U, 16'384U, 32'768U, 1U, 16'385U})
      orders.push_back({several(GetParam(), 1)[0].kind, static_cast<unsigned>(size), size});
    co_await move_at_once(server, GetParam(), orders, 3);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(origin.server.connections(), static_cast<int>(orders.size()));
  });
}

// One server encrypts what the other decrypts.
TEST_P(body_copy, encrypted_bodies_use_no_pipe) {
  run_bulk([]() -> gyre::task<> {
    const auto certificate = tls::certificate::self_signed({"127.0.0.1"});
    tls::server_options shown;
    shown.certificates.push_back(certificate);
    http::server_options options;
    options.encryption = tls::server_sessions(tls::server_config(shown));
    http::client_options trusting;
    trusting.tls = tls::client_config({.authorities = certificate.chain});
    relayed_origin origin;
    relay inner(origin.url(), {}, std::move(options));
    relay outer("https://" + inner.where(), trusting);
    origin.start();
    inner.start();
    outer.start();
    const auto orders = several(GetParam(), 2);
    co_await move_at_once(outer, GetParam(), orders);
    EXPECT_EQ(pipes().lent(), 0U);
    co_await outer.stop();
    co_await inner.stop();
    co_await origin.stop();
  });
}

TEST_P(body_copy, a_receiver_that_stalls_ends_the_copy_at_a_limit_and_its_pipe_is_free_again) {
  http::client_options client;
  http::server_options options;
  std::string reason;
  if (GetParam() == direction::download) {
    options.timeouts.write = 100ms;
    reason = "the time limit has passed";
  } else {
    client.timeouts.between_bytes = 300ms;
    reason = "(sending the request): timed out after 300 ms";
  }
  with_relay(
      [&](relayed_origin&, relay& server) -> gyre::task<> {
        stalled_bodies stalled(server, GetParam());
        co_await stalled.begin();
        co_await server.until_passed(2);
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const relayed_body& each : server.passed()) {
          EXPECT_FALSE(each.source_failed);
          EXPECT_NE(each.error.find(reason), std::string::npos) << each.error;
        }
        co_await stalled.end();
        EXPECT_EQ(server.client().counts().in_use, 0U);
        const auto orders = several(GetParam());
        co_await move_at_once(server, GetParam(), orders);
      },
      client, std::move(options));
}

TEST_P(body_copy, a_cancel_with_bytes_in_a_pipe_cuts_the_body_off_and_gives_the_pipe_back) {
  http::server_options options;
  options.timeouts.drain = 10ms;
  with_relay(
      [](relayed_origin&, relay& server) -> gyre::task<> {
        stalled_bodies stalled(server, GetParam());
        co_await stalled.begin();
        co_await server.stop();
        EXPECT_EQ(pipes().in_use(), 0U);
        EXPECT_EQ(server.passed().size(), 2U);
        for (const relayed_body& each : server.passed()) EXPECT_TRUE(each.cancelled) << each.error;
        EXPECT_EQ(server.client().counts().in_use, 0U);
        co_await stalled.end();
      },
      {}, std::move(options));
}

TEST_P(body_copy, a_cancel_anywhere_leaves_nothing_behind) {
  const std::size_t size = GetParam() == direction::upload ? 1'000'000 : 300'000;
  std::array<std::size_t, 2> moved{};
  std::uint64_t lent = 0;
  const auto move = [&](relay& server, unsigned n) -> gyre::task<> {
    auto client = co_await relay_client::connect(server);
    if (GetParam() == direction::upload) {
      co_await client.put({"take", n, size}, size);
      const std::string answer = co_await client.answer();
      moved[n] = answer == "200 taken" ? size : 0;
      co_return;
    }
    co_await client.ask({"sized", n, size});
    (void)co_await client.head();
    moved[n] = co_await client.read(n, size);
  };
  auto scenario = [&]() -> gyre::task<> {
    expect_failures();
    moved = {};
    http::server_options options;
    options.timeouts.drain = 0ms;
    relayed_origin origin;
    relay server(origin.url(), {}, std::move(options));
    auto all = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(origin.server.run());
      group.spawn(server.run());
      auto both = gyre::gather(move(server, 0), move(server, 1));
      co_await std::move(both);
      lent += pipes().lent();
      group.cancel();
    };
    co_await gyre::task_group::scope(all);
    EXPECT_EQ(pipes().in_use(), 0U);
  };
  gyre::loop_options options;
  options.backend.large_buffer_size = 16 * 1024;
  const auto report = gyre::testing::cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        for (const std::size_t each : moved) EXPECT_TRUE(was_cancelled || each == size) << each;
      },
      options);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(lent, 0U);
}
