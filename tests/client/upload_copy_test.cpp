// tests/client/upload_copy_test.cpp: bodies of requests that a server passes on to a server behind it.
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/tls.hpp>

#include "tests/client/upload_server.hpp"

#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
namespace tls = gyre::tls;

namespace {

constexpr std::size_t huge = 40'000'000;

/// Sends several bodies at the same time, and several times over each connection.
gyre::task<> put_at_once(upload_server& server, std::vector<ordered_body> orders, int times = 1) {
  const auto put = [&](ordered_body order) -> gyre::task<> {
    auto client = co_await uploader::connect(server);
    for (int n = 0; n < times; ++n) {
      const std::string answer = co_await client.put(order);
      EXPECT_EQ(answer, "200 taken");
    }
    EXPECT_FALSE(client.messages().has_more());
  };
  const auto all = [&](gyre::task_group& group) -> gyre::task<> {
    for (const ordered_body& each : orders) group.spawn(put(each));
    co_return;
  };
  co_await gyre::task_group::scope(all);
}

/// Two clients that send until the origin takes no more, and whose bytes are in pipes then.
struct stalled_uploads {
  explicit stalled_uploads(upload_server& to) : server(&to) {}

  gyre::task<> begin() {
    for (unsigned n = 0; n < 2; ++n) {
      auto client = co_await uploader::connect(*server);
      clients.push_back(std::move(client));
      co_await clients.back().begin({"stall", n, huge});
    }
    for (unsigned n = 0; n < 2; ++n) sending.push_back(gyre::spawn(send(n)));
    for (int n = 0; n < 5000 && pipes().in_use() < 2; ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(pipes().in_use(), 2U);
  }
  gyre::task<> end() {
    for (auto& each : sending) {
      each.cancel();
      co_await each.wait();
    }
  }
  gyre::task<> send(unsigned n) { (void)co_await clients[n].messages().give(n, 0, huge); }

  upload_server* server;
  std::vector<uploader> clients;
  std::vector<gyre::task_handle<void>> sending;
};

}  // namespace

TEST(upload_copy, of_several_bodies_uses_pipes_and_passes_on_each_byte_over_connections_that_stay) {
  with_upload_server([](passing_origin& origin, upload_server& server) -> gyre::task<> {
    const auto orders = several("take");
    co_await put_at_once(server, orders, 3);
    EXPECT_GT(pipes().lent(), 10U);
    EXPECT_EQ(origin.server.connections(), 4);
    EXPECT_EQ(server.passed().size(), 12U);
    for (const upload& each : server.passed()) EXPECT_EQ(each.received, much) << each.error;
  });
}

TEST(upload_copy, of_more_bodies_than_there_are_pipes_passes_on_each_byte) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto orders = several("take", 24, 1'000'000);
    co_await put_at_once(server, orders);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(upload_copy, of_a_body_that_alone_is_bulk_uses_no_pipe) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto orders = several("take", 1);
    co_await put_at_once(server, orders, 2);
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

TEST(upload_copy, ends_with_the_body_wherever_the_pieces_end) {
  with_upload_server([](passing_origin& origin, upload_server& server) -> gyre::task<> {
    std::vector<ordered_body> orders;
    for (const std::size_t size : {1U << 20U, (1U << 20U) + 1, (1U << 20U) - 1, 3U << 20U, 1'048'576U + 16'384U,
                                   600'000U, 16'384U, 32'768U, 1U, 16'385U})
      orders.push_back({"take", static_cast<unsigned>(size), size});
    co_await put_at_once(server, orders, 3);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(origin.server.connections(), static_cast<int>(orders.size()));
  });
}

TEST(upload_copy, leaves_the_next_request_that_follows_at_once) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      const ordered_body order{"take", seed, much};
      const auto ask = [&]() -> gyre::task<> {
        for (int n = 0; n < 3; ++n) {
          co_await client.begin(order);
          (void)co_await client.messages().give(seed, 0, much);
        }
      };
      const auto read = [&]() -> gyre::task<> {
        for (int n = 0; n < 3; ++n) {
          const std::string answer = co_await client.messages().answer();
          EXPECT_EQ(answer, "200 taken");
        }
      };
      auto both = gyre::gather(ask(), read());
      co_await std::move(both);
    };
    auto all = gyre::gather(put(1), put(2), put(3));
    co_await std::move(all);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(upload_copy, of_bodies_after_100_continue_uses_pipes) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"take", seed, much}, "Expect: 100-continue\r\n");
      const std::string go_on = co_await client.messages().head();
      EXPECT_TRUE(go_on.starts_with("HTTP/1.1 100 ")) << go_on;
      (void)co_await client.messages().give(seed, 0, much);
      const std::string answer = co_await client.messages().answer();
      EXPECT_EQ(answer, "200 taken");
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    EXPECT_GT(pipes().lent(), 0U);
  });
}

TEST(upload_copy, of_chunks_uses_no_pipe) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      const std::string body = patterned(seed, 0, much);
      std::string text = "PUT /take/" + std::to_string(seed) + "/0 HTTP/1.1\r\nHost: a\r\n";
      text += "Transfer-Encoding: chunked\r\n\r\n2dc6c0\r\n" + body + "\r\n0\r\n\r\n";
      (void)co_await client.stream().write_all(text);
      const std::string answer = co_await client.messages().answer();
      EXPECT_EQ(answer, "200 taken");
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    for (const upload& each : server.passed()) EXPECT_EQ(each.received, much) << each.error;
    EXPECT_EQ(pipes().lent(), 0U);
  });
}

// The first server encrypts what the second decrypts.
TEST(upload_copy, of_encrypted_bodies_uses_no_pipe) {
  run_bulk([]() -> gyre::task<> {
    const auto certificate = tls::certificate::self_signed({"127.0.0.1"});
    tls::server_options shown;
    shown.certificates.push_back(certificate);
    http::server_options options;
    options.encryption = tls::server_sessions(tls::server_config(shown));
    http::client_options trusting;
    trusting.tls = tls::client_config({.authorities = certificate.chain});
    passing_origin origin(take_what_is_sent);
    upload_server inner(origin.url(), {}, std::move(options));
    upload_server outer("https://" + inner.where(), trusting);
    origin.start();
    inner.start();
    outer.start();
    const auto orders = several("take", 2);
    co_await put_at_once(outer, orders);
    EXPECT_EQ(pipes().lent(), 0U);
    co_await outer.stop();
    co_await inner.stop();
    co_await origin.stop();
  });
}

TEST(upload_copy, passes_on_an_early_answer_of_the_server_behind) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"early", seed, huge});
      const auto give = [&]() -> gyre::task<> { (void)co_await client.messages().give(seed, 0, huge); };
      auto giving = gyre::spawn(give());
      const std::string answer = co_await client.messages().answer();
      EXPECT_EQ(answer, "413 large");
      giving.cancel();
      co_await giving.wait();
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
    for (const upload& each : server.passed()) EXPECT_FALSE(each.body_failed);
  });
}

TEST(upload_copy, tells_that_the_server_behind_has_reset_the_connection_in_the_middle) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"reset", seed, huge});
      (void)co_await client.messages().give(seed, 0, huge);
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    co_await server.until_passed(2);
    for (const upload& each : server.passed()) {
      EXPECT_FALSE(each.body_failed);
      EXPECT_NE(each.error, "");
    }
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

TEST(upload_copy, tells_that_the_client_has_left_in_the_middle) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"take", seed, 2 * much});
      (void)co_await client.messages().give(seed, 0, much);
      co_await client.stream().shutdown_write();
      (void)co_await client.messages().answer();
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    co_await server.until_passed(2);
    for (const upload& each : server.passed()) {
      EXPECT_TRUE(each.body_failed);
      EXPECT_EQ(each.received, much);
      EXPECT_NE(each.error.find("the body"), std::string::npos) << each.error;
    }
    EXPECT_GT(pipes().lent(), 0U);
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

TEST(upload_copy, of_a_client_that_resets_its_connection_ends) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"take", seed, 2 * much});
      (void)co_await client.messages().give(seed, 0, much);
      client.leave();
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    co_await server.until_passed(2);
    for (const upload& each : server.passed()) EXPECT_TRUE(each.body_failed || each.cancelled) << each.error;
    EXPECT_EQ(server.client().counts().in_use, 0U);
  });
}

TEST(upload_copy, of_a_client_that_stalls_ends_at_the_limit_of_bodies) {
  http::server_options options;
  options.timeouts.body = 1s;  // on a busy machine, a client that sends needs a part of it
  with_upload_server(
      [](passing_origin&, upload_server& server) -> gyre::task<> {
        const auto put = [&](unsigned seed) -> gyre::task<> {
          auto client = co_await uploader::connect(server);
          co_await client.begin({"take", seed, 2 * much});
          (void)co_await client.messages().give(seed, 0, much);
          const std::string answer = co_await client.messages().answer();
          EXPECT_TRUE(answer.starts_with("408 ")) << answer;
        };
        auto both = gyre::gather(put(1), put(2));
        co_await std::move(both);
        EXPECT_GT(pipes().lent(), 0U);
        for (const upload& each : server.passed()) {
          EXPECT_TRUE(each.body_failed);
          EXPECT_EQ(each.received, much);
        }
      },
      {}, std::move(options));
}

TEST(upload_copy, to_a_server_that_stalls_ends_at_the_limit_of_the_client_and_gives_the_pipe_back) {
  http::client_options impatient;
  impatient.timeouts.between_bytes = 300ms;
  with_upload_server(
      [](passing_origin&, upload_server& server) -> gyre::task<> {
        stalled_uploads stalled(server);
        co_await stalled.begin();
        co_await server.until_passed(2);
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const upload& each : server.passed()) {
          EXPECT_FALSE(each.body_failed);
          EXPECT_NE(each.error.find("(sending the request): timed out after 300 ms"), std::string::npos) << each.error;
        }
        EXPECT_EQ(server.client().counts().in_use, 0U);
        co_await stalled.end();
        const auto orders = several("take");
        co_await put_at_once(server, orders);
      },
      impatient);
}

TEST(upload_copy, ends_when_the_total_time_of_the_request_is_over) {
  http::client_options impatient;
  impatient.timeouts.total = 2s;
  with_upload_server(
      [](passing_origin&, upload_server& server) -> gyre::task<> {
        stalled_uploads stalled(server);
        co_await stalled.begin();
        co_await server.until_passed(2);
        EXPECT_EQ(pipes().in_use(), 0U);
        for (const upload& each : server.passed())
          EXPECT_NE(each.error.find("timed out after 2 s"), std::string::npos) << each.error;
        co_await stalled.end();
      },
      impatient);
}

TEST(upload_copy, to_a_server_that_reads_slowly_goes_on_beyond_the_limit_of_the_client) {
  http::client_options options;
  options.timeouts.between_bytes = 500ms;
  with_upload_server(
      [](passing_origin&, upload_server& server) -> gyre::task<> {
        const auto orders = several("slower", 2, 4'000'000);
        co_await put_at_once(server, orders);
        EXPECT_GT(pipes().lent(), 0U);
      },
      options);
}

// A Unix socket does not tell what the server has taken, only what the kernel has.
TEST(upload_copy, to_a_slow_server_on_a_unix_socket_goes_on_beyond_the_limit_of_the_client) {
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
  with_upload_server(
      [&](passing_origin&, upload_server& server) -> gyre::task<> {
        auto listener = gyre::unix_listener::bind(gyre::unix_address(name));
        auto origin = gyre::spawn(listener.serve(take_slowly));
        const auto orders = several("take", 2, size);
        co_await put_at_once(server, orders);
        EXPECT_GT(pipes().lent(), 0U);
        origin.cancel();
        co_await origin.wait();
      },
      options);
}

TEST(upload_copy, that_is_cancelled_with_bytes_in_a_pipe_gives_it_back) {
  http::server_options options;
  options.timeouts.drain = 10ms;
  with_upload_server(
      [](passing_origin&, upload_server& server) -> gyre::task<> {
        stalled_uploads stalled(server);
        co_await stalled.begin();
        co_await server.stop();
        EXPECT_EQ(pipes().in_use(), 0U);
        EXPECT_EQ(server.passed().size(), 2U);
        for (const upload& each : server.passed()) EXPECT_TRUE(each.cancelled) << each.error;
        EXPECT_EQ(server.client().counts().in_use, 0U);
        co_await stalled.end();
      },
      {}, std::move(options));
}

// Nothing looks for the end of the client while pieces pass; afterwards it has to be seen again.
TEST(upload_copy, of_a_client_that_leaves_after_its_body_is_cancelled) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    const auto put = [&](unsigned seed) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"mute", seed, much});
      (void)co_await client.messages().give(seed, 0, much);
      client.leave();
    };
    auto both = gyre::gather(put(1), put(2));
    co_await std::move(both);
    co_await server.until_passed(2);
    for (const upload& each : server.passed()) EXPECT_TRUE(each.cancelled || each.body_failed) << each.error;
  });
}

TEST(upload_copy, of_a_body_beyond_the_limit_is_refused_before_a_byte_is_passed_on) {
  with_upload_server([](passing_origin&, upload_server& server) -> gyre::task<> {
    server.set_limit(much);
    const auto put = [&](unsigned seed, std::size_t size, std::string expected) -> gyre::task<> {
      auto client = co_await uploader::connect(server);
      co_await client.begin({"take", seed, size});
      (void)co_await client.messages().give(seed, 0, std::min(size, much));
      const std::string answer = co_await client.messages().answer();
      EXPECT_TRUE(answer.starts_with(expected)) << answer;
    };
    auto all = gyre::gather(put(1, much, "200 taken"), put(2, much, "200 taken"), put(3, much + 1, "413 "));
    co_await std::move(all);
    EXPECT_GT(pipes().lent(), 0U);
    std::vector<std::uint64_t> received;
    for (const upload& each : server.passed()) received.push_back(each.received);
    std::ranges::sort(received);
    EXPECT_EQ(received, (std::vector<std::uint64_t>{0, much, much}));
  });
}

TEST(upload_copy, that_is_cancelled_anywhere_leaves_nothing_behind) {
  constexpr std::size_t size = 1'000'000;
  std::array<std::string, 2> answers;
  std::uint64_t lent = 0;
  const auto put = [&](upload_server& server, unsigned n) -> gyre::task<> {
    auto client = co_await uploader::connect(server);
    answers[n] = co_await client.put({"take", n, size});
  };
  auto scenario = [&]() -> gyre::task<> {
    expect_failures();
    answers = {};
    http::server_options options;
    options.timeouts.drain = 0ms;
    passing_origin origin(take_what_is_sent);
    upload_server server(origin.url(), {}, std::move(options));
    auto all = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(origin.server.run());
      group.spawn(server.run());
      auto both = gyre::gather(put(server, 0), put(server, 1));
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
        for (const std::string& each : answers) EXPECT_TRUE(was_cancelled || each == "200 taken") << each;
      },
      options);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(lent, 0U);
}
