// tests/client/cut_body_copy_test.cpp: bodies that are passed on, and a side that breaks, stalls or is cancelled.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/client/passing_server.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

/// Two clients whose bodies move through pipes, and that read nothing more until they are told to.
struct stalled_clients {
  static constexpr std::size_t size = 40'000'000;
  std::vector<checking_client> clients;

  gyre::task<> begin(passing_server& server, std::string kind = "sized") {
    const std::uint64_t before = pipes().lent();
    for (unsigned n = 0; n < 2; ++n) {
      auto client = co_await checking_client::connect(server);
      client.stream().set_receive_buffer_size(100'000);
      clients.push_back(std::move(client));
      co_await clients.back().ask({kind, n, size});
    }
    for (std::size_t read = 0; read < 5 * much && (pipes().lent() == before || pipes().in_use() < 2);) {
      read += 50'000;
      for (unsigned n = 0; n < 2; ++n) {
        if (read == 50'000) (void)co_await clients[n].head();
        EXPECT_EQ(co_await clients[n].read(n, read), read);
      }
      co_await gyre::sleep(1ms);
    }
    EXPECT_GT(pipes().lent(), before);
    EXPECT_EQ(pipes().in_use(), 2U);
  }
};

/// Expects that the client reads less than it was promised, and then a reset.
gyre::task<> expect_cut_off(checking_client& client, unsigned seed, std::size_t size) {
  EXPECT_LT(co_await client.read(seed, size), size) << "a part looks like the whole";
  EXPECT_TRUE(client.was_reset());
}

gyre::task<> until_passed(const passing_server& server, std::size_t count) {
  for (int n = 0; n < 5000 && server.passed().size() < count; ++n) co_await gyre::sleep(1ms);
  EXPECT_EQ(server.passed().size(), count);
}

struct noted_exchanges : http::exchange_observer {
  void answered(const http::exchange& what) noexcept override {
    bytes.push_back(what.body_bytes);
    complete.push_back(what.complete);
  }
  std::vector<std::uint64_t> bytes;
  std::vector<bool> complete;
};

}  // namespace

TEST(cut_body_copy, tells_that_the_server_has_reset_the_connection_in_the_middle) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"reset", seed, 2 * much});
      (void)co_await client.head();
      co_await expect_cut_off(client, seed, 2 * much);
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    co_await until_passed(server, 2);
    for (const passing& each : server.passed()) EXPECT_TRUE(each.reader_failed) << each.error;
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

TEST(cut_body_copy, tells_that_the_server_has_cut_the_body_off) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"short", seed, 2 * much});
      (void)co_await client.head();
      co_await expect_cut_off(client, seed, 2 * much);
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    co_await until_passed(server, 2);
    for (const passing& each : server.passed()) {
      EXPECT_TRUE(each.reader_failed);
      EXPECT_NE(each.error.find("the connection ended within the response"), std::string::npos) << each.error;
    }
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(cut_body_copy, ends_when_the_server_sends_nothing_for_too_long) {
  http::client_options impatient;
  impatient.timeouts.between_bytes = 100ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        const auto fetch = [&](unsigned seed) -> gyre::task<> {
          auto client = co_await checking_client::connect(server);
          co_await client.ask({"stall", seed, 2 * much});
          (void)co_await client.head();
          co_await expect_cut_off(client, seed, 2 * much);
        };
        auto both = gyre::gather(fetch(1), fetch(2));
        co_await std::move(both);
        co_await until_passed(server, 2);
        for (const passing& each : server.passed()) {
          EXPECT_TRUE(each.reader_failed);
          EXPECT_NE(each.error.find("(receiving the body): timed out after 100 ms"), std::string::npos) << each.error;
        }
        EXPECT_GT(pipes().lent(), 0U);
        EXPECT_EQ(server.client().counts().in_use, 0U);
      },
      impatient);
}

TEST(cut_body_copy, ends_when_the_total_time_of_the_request_is_over) {
  http::client_options impatient;
  impatient.timeouts.total = 300ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        const auto fetch = [&](unsigned seed) -> gyre::task<> {
          auto client = co_await checking_client::connect(server);
          co_await client.ask({"stall", seed, 2'000'000});
          (void)co_await client.head();
          co_await expect_cut_off(client, seed, 2'000'000);
        };
        auto both = gyre::gather(fetch(1), fetch(2));
        co_await std::move(both);
        co_await until_passed(server, 2);
        for (const passing& each : server.passed())
          EXPECT_NE(each.error.find("timed out after 300 ms"), std::string::npos) << each.error;
      },
      impatient);
}

TEST(cut_body_copy, to_a_client_that_leaves_is_no_failure_of_the_server_behind) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    stalled_clients stalled;
    co_await stalled.begin(server);
    for (auto& each : stalled.clients) {
      each.stream().set_reset_on_close(true);
      each.stream() = gyre::tcp_stream();
    }
    co_await until_passed(server, 2);
    for (const passing& each : server.passed()) EXPECT_FALSE(each.reader_failed) << each.error;
    EXPECT_EQ(pipes().in_use(), 0U);
  });
}

TEST(cut_body_copy, to_a_client_that_stalls_ends_at_the_limit_of_writes_and_gives_the_pipe_back) {
  http::server_options options;
  options.timeouts.write = 100ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        stalled_clients stalled;
        co_await stalled.begin(server);
        co_await until_passed(server, 2);
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const passing& each : server.passed()) {
          EXPECT_FALSE(each.reader_failed);
          EXPECT_NE(each.error.find("the time limit has passed"), std::string::npos) << each.error;
        }
        for (unsigned n = 0; n < 2; ++n) co_await expect_cut_off(stalled.clients[n], n, stalled_clients::size);
        const auto orders = several("sized");
        co_await fetch_at_once(server, orders);
      },
      {}, std::move(options));
}

TEST(cut_body_copy, to_a_client_that_reads_slowly_goes_on_beyond_the_limit_of_a_write) {
  http::server_options options;
  options.timeouts.write = 200ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        const auto fetch = [&](unsigned seed) -> gyre::task<> {
          auto client = co_await checking_client::connect(server);
          client.stream().set_receive_buffer_size(100'000);
          co_await client.ask({"sized", seed, 2 * much});
          (void)co_await client.head();
          for (std::size_t read = 0; read < 2 * much;) {
            read = std::min<std::size_t>(read + 200'000, 2 * much);
            EXPECT_EQ(co_await client.read(seed, read), read);
            co_await gyre::sleep(20ms);
          }
        };
        auto both = gyre::gather(fetch(1), fetch(2));
        co_await std::move(both);
        EXPECT_GT(pipes().lent(), 0U);
      },
      {}, std::move(options));
}

TEST(cut_body_copy, that_is_cancelled_with_bytes_in_a_pipe_cuts_the_response_off) {
  http::server_options options;
  options.timeouts.drain = 10ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        stalled_clients stalled;
        co_await stalled.begin(server);
        server.tell_to_stop();
        co_await server.stopped();
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const passing& each : server.passed()) EXPECT_TRUE(each.cancelled);
        for (unsigned n = 0; n < 2; ++n) co_await expect_cut_off(stalled.clients[n], n, stalled_clients::size);
      },
      {}, std::move(options));
}

TEST(cut_body_copy, that_is_cancelled_while_it_waits_for_bytes_cuts_the_response_off) {
  http::server_options options;
  options.timeouts.drain = 10ms;
  with_passing_server(
      [](passing_origin&, passing_server& server) -> gyre::task<> {
        std::vector<checking_client> clients;
        for (unsigned n = 0; n < 2; ++n) {
          auto client = co_await checking_client::connect(server);
          clients.push_back(std::move(client));
          co_await clients.back().ask({"stall", n, 2 * much});
        }
        for (unsigned n = 0; n < 2; ++n) {
          (void)co_await clients[n].head();
          EXPECT_EQ(co_await clients[n].read(n, much), much);
        }
        server.tell_to_stop();
        for (unsigned n = 0; n < 2; ++n) co_await expect_cut_off(clients[n], n, 2 * much);
        for (const passing& each : server.passed()) {
          EXPECT_TRUE(each.cancelled);
          EXPECT_FALSE(each.reader_failed);
        }
        EXPECT_GT(pipes().lent(), 0U);
      },
      {}, std::move(options));
}

TEST(cut_body_copy, that_runs_when_the_server_is_told_to_stop_comes_to_its_end) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    stalled_clients stalled;
    co_await stalled.begin(server);
    server.tell_to_stop();
    const auto finish = [&](unsigned n) -> gyre::task<> {
      checking_client& client = stalled.clients[n];
      EXPECT_EQ(co_await client.read(n, stalled_clients::size), stalled_clients::size);
      EXPECT_TRUE(co_await client.at_end());
      EXPECT_FALSE(client.was_reset());
    };
    auto both = gyre::gather(finish(0), finish(1));
    co_await std::move(both);
    co_await server.stopped();
  });
}

TEST(cut_body_copy, is_counted_by_the_observer_of_the_server) {
  noted_exchanges noted;
  http::server_options options;
  options.observer = &noted;
  options.timeouts.write = 100ms;
  with_passing_server(
      [&](passing_origin&, passing_server& server) -> gyre::task<> {
        const auto orders = several("sized", 3);
        co_await fetch_at_once(server, orders);
        for (int n = 0; n < 1000 && noted.bytes.size() < 3; ++n) co_await gyre::sleep(1ms);
        EXPECT_EQ(noted.bytes, std::vector<std::uint64_t>(3, much));
        EXPECT_EQ(noted.complete, std::vector<bool>(3, true));
        stalled_clients stalled;
        co_await stalled.begin(server);
        for (int n = 0; n < 5000 && noted.bytes.size() < 5; ++n) co_await gyre::sleep(1ms);
        CO_ASSERT_EQ(noted.bytes.size(), 5U);
        for (std::size_t n = 3; n < 5; ++n) {
          EXPECT_FALSE(noted.complete[n]);
          EXPECT_GT(noted.bytes[n], 50'000U);
          EXPECT_LT(noted.bytes[n], stalled_clients::size);
        }
      },
      {}, std::move(options));
}

TEST(cut_body_copy, that_is_cancelled_anywhere_has_passed_on_a_prefix) {
  constexpr std::size_t size = 300'000;
  std::array<std::size_t, 2> received{};
  std::uint64_t lent = 0;
  const auto fetch = [&](passing_server& server, unsigned n) -> gyre::task<> {
    auto client = co_await checking_client::connect(server);
    co_await client.ask({"sized", n, size});
    (void)co_await client.head();
    for (std::size_t most = 0; most < size && most == received[n];) {
      most = std::min<std::size_t>(most + 20'000, size);
      received[n] = co_await client.read(n, most);
    }
  };
  auto scenario = [&]() -> gyre::task<> {
    expect_failures();
    received = {};
    http::server_options options;
    options.timeouts.drain = 0ms;
    passing_origin origin;
    passing_server server(origin.url(), {}, std::move(options));
    auto all = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(origin.server.run());
      group.spawn(server.run());
      auto both = gyre::gather(fetch(server, 0), fetch(server, 1));
      co_await std::move(both);
      lent += pipes().lent();
      group.cancel();
    };
    co_await gyre::task_group::scope(all);
  };
  gyre::loop_options options;
  options.backend.large_buffer_size = 16 * 1024;
  const auto report = gyre::testing::cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        for (const std::size_t each : received) EXPECT_TRUE(was_cancelled ? each <= size : each == size) << each;
      },
      options);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(lent, 0U);
}

TEST(cut_body_copy, of_a_body_that_is_longer_than_the_response_announces_is_refused) {
  with_passing_server([](passing_origin&, passing_server& server) -> gyre::task<> {
    server.announce(much);
    const auto fetch = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await checking_client::connect(server);
      co_await client.ask({"sized", seed, 2 * much});
      (void)co_await client.head();
      co_await expect_cut_off(client, seed, 2 * much);
    };
    auto both = gyre::gather(fetch(1), fetch(2));
    co_await std::move(both);
    co_await until_passed(server, 2);
    for (const passing& each : server.passed())
      EXPECT_EQ(each.error, "the body of the response is longer than was announced");
  });
}
