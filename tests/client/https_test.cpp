// tests/client/https_test.cpp: the same over TLS, and over Unix sockets.
#include <gyre/stream/copy.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/tls.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/tls/cut_stream.hpp"

#include <unistd.h>

#include <array>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre_test;
namespace tls = gyre::tls;

namespace {

const tls::certificate& certificate() {
  static const auto made = tls::certificate::self_signed({"127.0.0.1", "localhost"});
  return made;
}

http::client_options trusting() {
  return {.tls = tls::client_config({.authorities = certificate().chain, .protocols = {"http/1.1"}})};
}

/// HTTPS by gyre's own server.
class https_server {
 public:
  explicit https_server(http::handler routes, const tls::certificate& shown = certificate())
      : listener_(tls::listener::bind("127.0.0.1:0", config(shown))), server_(options(std::move(routes))) {}
  [[nodiscard]] std::string url(std::string_view target = "/") const {
    return "https://" + listener_.local_address().string() + std::string(target);
  }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] int resumed() const noexcept { return resumed_; }
  gyre::task<> run() {
    auto handler = [this](tls::stream stream) -> gyre::task<> {
      ++connections_;
      if (stream.resumed()) ++resumed_;
      co_await server_.serve_connection(gyre::any_stream(std::move(stream)));
    };
    co_await listener_.serve(handler);
  }

 private:
  static tls::server_config config(const tls::certificate& shown) {
    tls::server_options options;
    options.certificates.push_back(shown);
    options.protocols = {"http/1.1"};
    return tls::server_config(options);
  }
  static http::server_options options(http::handler routes) {
    http::server_options made;
    made.routes = std::move(routes);
    made.listen.clear();
    return made;
  }
  tls::listener listener_;
  http::server server_;
  int connections_ = 0;
  int resumed_ = 0;
};

template <class Body>
void with_https(http::handler routes, Body body, const tls::certificate& shown = certificate()) {
  run_real([&]() -> gyre::task<> {
    https_server server(std::move(routes), shown);
    auto serving = gyre::spawn(server.run());
    const auto outcome = co_await gyre::as_result(body(server));
    serving.cancel();
    co_await serving.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

gyre::task<http::response> echo(http::request& request) {
  const std::string text = co_await request.body().read_all();
  co_return http::response::text(std::string(request.method()) + " " + std::string(request.target()) + " " + text);
}

/// Waits until the client leaves.
gyre::task<> until_gone(tls::stream& stream) {
  std::array<char, 100> buffer{};
  auto reading = stream.read_some(std::span<char>(buffer));
  (void)co_await gyre::as_expected(std::move(reading));
}

/// A script over TLS, for servers that break the rules.
class scripted_tls_server {
 public:
  template <class Script>
  static gyre::task<> serve(tls::listener& listener, Script script) {
    auto handler = [&script](tls::stream stream) -> gyre::task<> {
      std::array<char, 4096> buffer{};
      auto reading = stream.read_some(std::span<char>(buffer));
      (void)co_await std::move(reading);
      co_await script(stream);
    };
    co_await listener.serve(handler);
  }
};

template <class Script, class Body>
void with_tls_script(Script script, Body body) {
  run_real([&]() -> gyre::task<> {
    tls::server_options options;
    options.certificates.push_back(certificate());
    auto listener = tls::listener::bind("127.0.0.1:0", tls::server_config(options));
    auto serving = gyre::spawn(scripted_tls_server::serve(listener, script));
    const auto outcome = co_await gyre::as_result(body("https://" + listener.local_address().string() + "/"));
    serving.cancel();
    co_await serving.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

}  // namespace

TEST(client_https, requests_are_encrypted_and_share_a_connection) {
  with_https(echo, [](https_server& server) -> gyre::task<> {
    http::client client(trusting());
    EXPECT_EQ(co_await fetched(client, server.url("/a?b")), "GET /a?b ");
    auto posted = co_await client.post(server.url(), "text", "text/plain");
    EXPECT_EQ(co_await posted.read_all(), "POST / text");
    EXPECT_TRUE(posted.reused_connection());
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(client_https, a_certificate_that_nobody_has_signed_is_refused) {
  with_https(echo, [](https_server& server) -> gyre::task<> {
    http::client client;
    const std::string refusal = co_await fetched(client, server.url());
    EXPECT_NE(refusal.find("self-signed certificate"), std::string::npos) << refusal;
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_https, a_certificate_for_another_name_is_refused) {
  const auto other = tls::certificate::self_signed({"other.test"});
  with_https(
      echo,
      [&](https_server& server) -> gyre::task<> {
        http::client client({.tls = tls::client_config({.authorities = other.chain})});
        const std::string refusal = co_await fetched(client, server.url());
        EXPECT_NE(refusal.find("IP address mismatch"), std::string::npos) << refusal;
      },
      other);
}

TEST(client_https, the_second_connection_to_an_origin_resumes_the_session_of_the_first) {
  with_https(echo, [](https_server& server) -> gyre::task<> {
    http::client client(trusting());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
      client.close_idle();
    }
    EXPECT_EQ(server.connections(), 3);
    EXPECT_EQ(server.resumed(), 2);
  });
}

TEST(client_https, large_bodies_arrive_whole_in_both_directions) {
  const std::string text(1'000'000, 'x');
  with_https(echo, [&](https_server& server) -> gyre::task<> {
    http::client client(trusting());
    auto response = co_await client.post(server.url(), text, "text/plain");
    EXPECT_EQ((co_await response.read_all()).size(), text.size() + 7);
    EXPECT_EQ(client.counts().idle, 1U);
    EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_https, an_idle_connection_that_says_goodbye_is_forgotten) {
  with_tls_script(
      [](tls::stream& stream) -> gyre::task<> {
        co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        co_await gyre::sleep(1ms);
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

TEST(client_https, a_goodbye_together_with_the_response_is_noticed) {
  with_tls_script(
      [](tls::stream& stream) -> gyre::task<> {
        co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        co_await stream.shutdown_write();
        co_await until_gone(stream);
      },
      [](std::string url) -> gyre::task<> {
        http::client client(trusting());
        for (int i = 0; i < 3; ++i) {
          auto response = co_await client.post(url, "x", "text/plain");
          EXPECT_EQ(co_await response.read_all(), "hello");
          co_await gyre::sleep(1ms);
        }
        EXPECT_EQ(client.counts().opened, 3U);
      });
}

TEST(client_https, data_on_an_idle_connection_makes_it_useless) {
  with_tls_script(
      [](tls::stream& stream) -> gyre::task<> {
        co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        co_await gyre::sleep(1ms);
        co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
        co_await until_gone(stream);
      },
      [](std::string url) -> gyre::task<> {
        http::client client(trusting());
        EXPECT_EQ(co_await fetched(client, url), "hello");
        for (int k = 0; k < 10'000 && client.counts().idle > 0; ++k) co_await gyre::sleep(100us);
        EXPECT_EQ(co_await fetched(client, url), "hello");
      });
}

TEST(client_https, a_body_that_ends_without_a_goodbye_is_cut_off) {
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

TEST(client_https, time_limits_reach_the_socket_below) {
  with_tls_script(until_gone, [](std::string url) -> gyre::task<> {
    auto options = trusting();
    options.timeouts.first_byte = 5ms;
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, url), "GET URL (waiting for the response): timed out after 5 ms");
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_https, a_handshake_that_never_ends_is_an_error) {
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

TEST(client_https, idle_connections_are_closed_with_the_client_and_in_time) {
  with_https(echo, [](https_server& server) -> gyre::task<> {
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

TEST(client_https, the_client_of_a_loop_may_keep_idle_connections_until_the_loop_ends) {
  with_https(echo, [](https_server& server) -> gyre::task<> {
    static const gyre::loop_local kept([] { return http::client(trusting()); });
    EXPECT_EQ(co_await fetched(*kept, server.url()), "GET / ");
    EXPECT_EQ(kept->counts().idle, 1U);
  });
}

TEST(client_https, a_cancel_anywhere_leaks_nothing) {
  const auto scenario = []() -> gyre::task<> {
    https_server server(echo);
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

TEST(client_https, an_upgraded_connection_stays_encrypted_and_ends_in_both_directions) {
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

TEST(client_https, the_certificate_of_the_client_stays_at_home_when_a_redirect_leads_away) {
  const auto identity = tls::certificate::self_signed({"ann"});
  tls::server_options settings;
  settings.certificates.push_back(certificate());
  settings.clients = tls::client_certificates::optional;
  settings.client_authorities = identity.chain;
  run_real([&]() -> gyre::task<> {
    std::string home_url;
    std::string far_url;
    const tls::server_config config(settings);
    const auto make = [&config](http::handler routes) {
      http::server_options options;
      options.listen = "127.0.0.1:0";
      options.encryption = tls::server_sessions(config);
      options.routes = std::move(routes);
      return options;
    };
    const auto name = [](http::request& request) { return http::response::text(request.security()->peer_name()); };
    http::router at_home;
    at_home.get("/name", name);
    at_home.get("/away", [&](http::request&) { return http::response::redirect(far_url + "/name", 302); });
    at_home.get("/and_back", [&](http::request&) { return http::response::redirect(far_url + "/back", 302); });
    http::router far_away;
    far_away.get("/name", name);
    far_away.get("/back", [&](http::request&) { return http::response::redirect(home_url + "/name", 302); });
    http::server home(make(std::move(at_home)));
    http::server far(make(std::move(far_away)));
    home_url = "https://" + home.where();
    far_url = "https://" + far.where();
    auto serving_home = gyre::spawn(home.run());
    auto serving_far = gyre::spawn(far.run());
    {
      http::client_options options;
      const tls::client_options rules{.authorities = certificate().chain, .identity = identity};
      options.tls = tls::client_config(rules);
      http::client client(options);
      EXPECT_EQ(co_await fetched(client, home_url + "/name"), "CN=ann");
      EXPECT_EQ(co_await fetched(client, far_url + "/name"), "CN=ann");
      for (int i = 0; i < 2; ++i) {  // on new connections, and on kept ones
        EXPECT_EQ(co_await fetched(client, home_url + "/away"), "");
        EXPECT_EQ(co_await fetched(client, home_url + "/and_back"), "");
        EXPECT_EQ(co_await fetched(client, far_url + "/name"), "CN=ann");
      }
    }
    serving_home.cancel();
    serving_far.cancel();
    co_await serving_home.wait();
    co_await serving_far.wait();
  });
}

TEST(client_unix, requests_go_to_the_socket_whatever_the_host) {
  run_real([]() -> gyre::task<> {
    http::server_options options;
    options.listen = "unix:@gyre-client-test-" + std::to_string(::getpid());
    options.routes = [](http::request& request) { return http::response::text(std::string(request.host())); };
    http::server server(std::move(options));
    auto serving = gyre::spawn(server.run());
    {
      http::client client({.unix_socket = server.where().substr(5)});
      EXPECT_EQ(co_await fetched(client, "http://any.test/"), "any.test");
      EXPECT_EQ(co_await fetched(client, "http://any.test/"), "any.test");
      EXPECT_EQ(client.counts().opened, 1U);
    }
    serving.cancel();
    co_await serving.wait();
    http::client client({.unix_socket = "/nowhere/x.sock"});
    EXPECT_EQ(co_await fetched(client, "http://a/"), "connect /nowhere/x.sock: No such file or directory");
  });
}

// The limit passes while the thread is busy. In the same turn the loop finds a part of a record, which
// wins over the interruption and is no part of the response yet.
TEST(client_https, a_limit_that_passes_just_when_a_part_of_a_record_arrives_ends_the_request) {
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
