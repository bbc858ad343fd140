// tests/tls/https_handshakes_test.cpp: an HTTP server over TLS, and handshakes that are slow, stalled or none.
#include "tests/tls/https_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

/// Raises the limit as far as possible.
std::size_t max_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 20'000);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace

TEST(https_handshakes, a_client_that_speaks_no_tls_is_closed) {
  run_on_sockets(over_tls(says("hello")), [](socket_server& server) -> gyre::task<> {
    auto client = co_await server.connect();
    co_await client.send(hello_request);
    const std::string said = co_await client.rest();
    EXPECT_EQ(said.find("HTTP"), std::string::npos);  // at most an alert
    EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");
  });
}

TEST(https_handshakes, a_client_that_does_not_finish_its_handshake_is_closed) {
  http::server_options options = over_tls(says("hello"));
  options.timeouts.handshake = 500ms;  // on a busy machine, an honest client needs a part of it
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    for (const std::string& said : {std::string(), beginning_of_handshake}) {
      auto client = co_await connect_to(server);
      (void)co_await gyre::as_expected(client.write_all(said));  // a busy machine may have closed it
      EXPECT_TRUE(co_await is_closed_without_an_answer(client));
    }
    EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");
  });
}

// The client's last message of the handshake and its first request leave in the same turn, and arrive together.
TEST(https_handshakes, a_request_that_arrives_with_the_end_of_the_handshake_counts) {
  http::server_options options = over_tls(says("hello"));
  options.limits.requests_per_connection = 2;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    for (const char* const connection : {"keep-alive", "close"}) {
      co_await client.send(hello_request);
      const http_answer answer = co_await client.answer();
      EXPECT_EQ(answer.body, "hello");
      EXPECT_EQ(answer.field("Connection"), connection);
    }
  });
}

TEST(https_handshakes, a_further_handshake_makes_the_server_give_up_the_oldest) {
  http::server_options options = over_tls(says("hello"));
  options.limits.handshakes = 2;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    std::vector<gyre::tcp_stream> stalled;
    for (int i = 0; i < 3; ++i) {
      stalled.push_back(co_await connect_to(server));
      co_await stalled.back().write_all(beginning_of_handshake);
    }
    EXPECT_TRUE(co_await is_closed_without_an_answer(stalled[0]));
    EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");  // in place of the second one
    EXPECT_TRUE(co_await is_closed_without_an_answer(stalled[1]));
  });
}

// Another handshake begins after this one has ended, in the same turn.
TEST(https_handshakes, a_handshake_that_ends_in_the_turn_that_would_give_it_up_is_served) {
  http::server_options options = over_tls(says("hello"));
  options.limits.handshakes = 1;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    auto other = co_await connect_to(server);
    auto client = co_await connect_over_tls(server);
    co_await client.send(hello_request);
    co_await other.write_all(beginning_of_handshake);
    EXPECT_EQ((co_await client.answer()).body, "hello");
  });
}

TEST(https_handshakes, hundreds_of_stalled_handshakes_leave_the_others_alone) {
  http::server_options options = over_tls(says("hello"));
  options.limits.handshakes = 100;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    std::vector<gyre::tcp_stream> stalled;
    for (int i = 0; i < 400; ++i) {
      stalled.push_back(co_await connect_to(server));
      if (i % 2 == 0) co_await stalled.back().write_all(beginning_of_handshake);
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");
    EXPECT_GE(server.server().connections(), 290U);  // the silent ones cost nothing, and stay until their time is over
    EXPECT_LE(server.server().connections(), 310U);
  });
}

TEST(https_handshakes, thousands_of_handshakes_that_do_not_go_on_cost_the_others_nothing) {
  constexpr std::size_t wanted = 5000;
  const std::size_t count = std::min(wanted, max_descriptors() / 2 - 200);  // both ends are here
  http::server_options options = over_tls(says("hello"));
  options.limits.handshakes = wanted + 100;
  options.timeouts.handshake = 2min;  // none ends before all have begun
  options.limits.connections = 2 * wanted;
  run_on_sockets(std::move(options), [count](socket_server& server) -> gyre::task<> {
    auto kept = co_await connect_over_tls(server);
    std::vector<gyre::tcp_stream> stalled;
    for (std::size_t i = 0; i < count; ++i) {
      stalled.push_back(co_await connect_to(server));
      co_await stalled.back().write_all(beginning_of_handshake);
      if (i % 100 != 0) continue;
      co_await kept.send(hello_request);
      EXPECT_EQ((co_await kept.answer()).body, "hello");
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");
    EXPECT_GE(server.server().connections(), count + 1);  // all of them are still being waited for
  });
}

TEST(https_handshakes, encryption_that_offers_a_protocol_that_the_server_does_not_speak_is_refused) {
  auto settings = server_with_certificate();
  settings.protocols = {"h2", "http/1.1"};
  run_virtual([&]() -> gyre::task<> {
    EXPECT_EQ(error_of_call([&] { const http::server refused(over_tls(says("hello"), settings)); }),
              "tls::server_sessions: the configuration offers the protocol \"h2\", which the server does not speak; "
              "offer only \"http/1.1\"");
    settings.protocols = {"http/1.1"};
    EXPECT_EQ(error_of_call([&] { const http::server accepted(over_tls(says("hello"), settings)); }), "");
    co_return;
  });
}

TEST(https_handshakes, a_later_configuration_with_a_protocol_that_the_server_does_not_speak_is_refused) {
  auto settings = server_with_certificate();
  tls::server_sessions sessions{tls::server_config(settings)};
  http::server_options options = options_for(says("hello"));
  options.encryption = sessions;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    settings.protocols = {"http/1.1", "h2"};
    EXPECT_EQ(error_of_call([&] { sessions.set_config(tls::server_config(settings)); }),
              "tls::server_sessions: the configuration offers the protocol \"h2\", which the server does not speak; "
              "offer only \"http/1.1\"");
    EXPECT_TRUE(sessions.config().protocols().empty()) << "the former one remains";
    settings.protocols = {"http/1.1"};
    EXPECT_EQ(error_of_call([&] { sessions.set_config(tls::server_config(settings)); }), "");
    EXPECT_EQ((co_await get_over_tls(server, "/")).body, "hello");
  });
}
