// tests/client/https_connection_test.cpp: how encrypted connections end, are kept, and keep their time limits.
#include <gyre/stream/copy.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/client/encrypted_server.hpp"
#include "tests/tls/cut_stream.hpp"

#include <array>
#include <exception>
#include <thread>
#include <utility>

using namespace gyre_test;

TEST(client_https_connection, a_connection_that_says_goodbye_with_or_after_the_response_is_forgotten) {
  for (const bool later : {false, true})
    with_tls_script(
        [later](tls::stream& stream) -> gyre::task<> {
          co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
          if (later) co_await gyre::sleep(1ms);
          co_await stream.shutdown_write();
          co_await until_gone(stream);
        },
        [](std::string url) -> gyre::task<> {
          http::client client(trusting());
          for (int i = 0; i < 3; ++i) {
            auto response = co_await client.post(url, "x", "text/plain");
            EXPECT_EQ(co_await response.read_all(), "hello");
            for (int k = 0; k < 10'000 && client.counts().idle > 0; ++k) co_await gyre::sleep(100us);
          }
          EXPECT_EQ(client.counts().retried, 0U);
          EXPECT_EQ(client.counts().opened, 3U);
        });
}

TEST(client_https_connection, a_body_that_ends_without_a_goodbye_is_cut_off) {
  for (const bool politely : {true, false})
    with_tls_script(
        [politely](tls::stream& stream) -> gyre::task<> {
          co_await stream.write_all("HTTP/1.1 200 OK\r\n\r\nsome of it");
          if (politely) co_await stream.shutdown_write();
        },
        [politely](std::string url) -> gyre::task<> {
          http::client client(trusting());
          EXPECT_EQ(co_await fetched(client, url),
                    politely ? "some of it" : "GET URL: the connection ended within the response");
        });
}

TEST(client_https_connection, time_limits_reach_the_socket_below) {
  with_tls_script(until_gone, [](std::string url) -> gyre::task<> {
    auto options = trusting();
    options.timeouts.first_byte = 5ms;
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, url), "GET URL (waiting for the response): timed out after 5 ms");
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_https_connection, a_handshake_that_never_ends_is_an_error) {
  with_server([](peer& client) -> gyre::task<> { (void)co_await client.rest(); },
              [](scripted_server& server) -> gyre::task<> {
                auto options = trusting();
                options.timeouts.tls = 5ms;
                http::client client(options);
                EXPECT_EQ(co_await fetched(client, "https" + server.url().substr(4)),
                          "GET URL (TLS handshake): timed out after 5 ms");
                EXPECT_EQ(client.counts().in_use, 0U);
              });
}

// The limit passes while the thread is busy. In the same turn the loop finds a part of a record, which
// wins over the interruption and is no part of the response yet.
TEST(client_https_connection, a_limit_that_passes_just_when_a_part_of_a_record_arrives_ends_the_request) {
  run_real([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    bool cut = false;
    auto serve = [&]() -> gyre::task<> {
      auto inner = co_await listener.accept();
      cut_stream below{.inner = std::move(inner), .cut = &cut};
      tls::server_options options;
      options.certificates.push_back(certificate());
      const tls::server_config config(options);
      auto accepting = tls::accept(std::move(below), config);
      auto stream = co_await std::move(accepting);
      std::array<std::byte, 4096> request{};
      (void)co_await stream.read_some(request);
      co_await gyre::sleep(5ms);  // the client waits for the response
      cut = true;
      constexpr std::string_view response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
      co_await stream.write_all(std::as_bytes(std::span(response)));
      std::this_thread::sleep_for(50ms);
      (void)co_await stream.read_some(request);
    };
    auto serving = gyre::spawn(serve);
    http::client_options options = trusting();
    options.timeouts.first_byte = 20ms;
    {
      http::client client(options);
      const std::string url = "https://" + listener.local_address().string() + "/";
      auto in_time = gyre::timeout(5s, fetched(client, url));
      EXPECT_EQ(co_await std::move(in_time), "GET URL (waiting for the response): timed out after 20 ms");
    }
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(client_https_connection, an_upgraded_connection_stays_encrypted_and_ends_in_both_directions) {
  const auto repeats = [](http::request&) {
    return http::response::switch_protocols("repeat", [](gyre::any_stream peer) -> gyre::task<> {
      (void)co_await gyre::copy(peer, peer);
      co_await peer.shutdown_write();
    });
  };
  const std::string text(100'000, 'x');
  with_https(repeats, [&](https_server& server) -> gyre::task<> {
    http::client client(trusting());
    auto response = co_await client.request("GET", server.url()).upgrade("repeat").send();
    EXPECT_EQ(response.status(), 101);
    auto stream = response.take_stream();
    auto writes = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn([](gyre::any_stream& to, const std::string& all) -> gyre::task<> {
        co_await to.write_all(std::as_bytes(std::span(all)));
        co_await to.shutdown_write();
      }(stream, text));
      std::size_t size = 0;
      std::array<std::byte, 4096> buffer{};
      while (const std::size_t n = co_await stream.read_some(buffer)) size += n;
      EXPECT_EQ(size, text.size());
    };
    co_await gyre::task_group::scope(writes);
  });
}

TEST(client_https_connection, idle_connections_are_closed_with_the_client_and_in_time) {
  with_https(repeat_request, [](https_server& server) -> gyre::task<> {
    auto options = trusting();
    options.limits.idle = 3ms;
    {
      http::client client(options);
      EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
      for (int k = 0; k < 10'000 && client.counts().idle > 0; ++k) co_await gyre::sleep(100us);
      EXPECT_EQ(client.counts().idle, 0U);
      EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
    }
    http::client client(trusting());
    EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
    client.close_idle();
    EXPECT_EQ(client.counts().idle, 0U);
  });
}

TEST(client_https_connection, the_client_of_a_loop_may_keep_idle_connections_until_the_loop_ends) {
  with_https(repeat_request, [](https_server& server) -> gyre::task<> {
    static const gyre::loop_local kept([] { return http::client(trusting()); });
    EXPECT_EQ(co_await fetched(*kept, server.url()), "GET / ");
    EXPECT_EQ(kept->counts().idle, 1U);
  });
}

TEST(client_https_connection, a_cancel_anywhere_leaks_nothing) {
  const auto scenario = []() -> gyre::task<> {
    https_server server(repeat_request);
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(server.run());
      http::client client(trusting());
      std::exception_ptr failure;
      try {
        for (int i = 0; i < 2; ++i) {
          auto response = co_await client.get(server.url());
          EXPECT_EQ(co_await response.read_all(), "GET / ");
        }
      } catch (const gyre::io_error&) {
        failure = std::current_exception();
      }
      co_await gyre::yield();  // the server is cancelled, too, and may have closed the connection first
      if (failure) std::rethrow_exception(failure);
      client.close_idle();
      for (int i = 0; i < 3; ++i) co_await gyre::yield();  // the watch of the connection ends
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 20U);
  EXPECT_GE(report.completed, 1U);
}
