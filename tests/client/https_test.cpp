// tests/client/https_test.cpp: requests over TLS, and the certificates of both sides.
#include "tests/client/encrypted_server.hpp"

#include <string>
#include <utility>

using namespace gyre_test;

TEST(client_https, requests_are_encrypted_and_share_a_connection) {
  with_https(repeat_request, [](https_server& server) -> gyre::task<> {
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
  with_https(repeat_request, [](https_server& server) -> gyre::task<> {
    http::client client;
    const std::string refusal = co_await fetched(client, server.url());
    EXPECT_NE(refusal.find("self-signed certificate"), std::string::npos) << refusal;
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_https, a_certificate_for_another_name_is_refused) {
  const auto other = tls::certificate::self_signed({"other.test"});
  with_https(
      repeat_request,
      [&](https_server& server) -> gyre::task<> {
        http::client client({.tls = tls::client_config({.authorities = other.chain})});
        const std::string refusal = co_await fetched(client, server.url());
        EXPECT_NE(refusal.find("IP address mismatch"), std::string::npos) << refusal;
      },
      other);
}

TEST(client_https, the_second_connection_to_an_origin_resumes_the_session_of_the_first) {
  with_https(repeat_request, [](https_server& server) -> gyre::task<> {
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
  with_https(repeat_request, [&](https_server& server) -> gyre::task<> {
    http::client client(trusting());
    auto response = co_await client.post(server.url(), text, "text/plain");
    EXPECT_EQ((co_await response.read_all()).size(), text.size() + 7);
    EXPECT_EQ(client.counts().idle, 1U);
    EXPECT_EQ(co_await fetched(client, server.url()), "GET / ");
    EXPECT_EQ(server.connections(), 1);
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
