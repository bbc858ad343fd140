// tests/client/tunnel_test.cpp: proxies that answer in pieces, break off, or must not learn everything.
#include "tests/client/through_proxy.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace gyre_test;
using namespace std::string_literals;

namespace {

std::string with_user(std::string url, const std::string& scheme) {
  url.replace(0, 4, scheme);
  return url.insert(url.find("//") + 2, "ann:secret@");
}

/// A language of proxies: what a proxy that lets everybody in says, after each message of the client.
struct language {
  std::string scheme, target;
  std::vector<std::size_t> asked;  // sizes of the client's messages
  std::vector<std::string> said;
};

const std::string socks_request =
    "\x05\x01\x00\x03\x08"
    "far.test\x00\x50"s;

std::vector<language> languages() {
  const std::string connect =
      "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nProxy-Authorization: Basic YW5uOnNlY3JldA==\r\n\r\n";
  return {{.scheme = "http",
           .target = "https://far.test/",
           .asked = {connect.size()},
           .said = {"HTTP/1.1 103 Wait\r\nA: b\r\n\r\nHTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n"}},
          {.scheme = "socks5h",
           .target = "http://far.test/",
           .asked = {4, 12, socks_request.size()},
           .said = {"\x05\x02"s, "\x01\x00"s, "\x05\x00\x00\x03\x05proxy\x00\x50"s}},
          {.scheme = "socks5h",
           .target = "http://far.test/",
           .asked = {4, socks_request.size()},
           .said = {"\x05\x00"s, "\x05\x00\x00\x04"s + std::string(16, '\0') + "\x00\x50"s}}};
}

/// Talks, with a pause or the end of the connection after so many bytes. Returns false after the end.
gyre::task<bool> talk(peer& client, const language& spoken, std::size_t at, bool ends) {
  for (std::size_t i = 0; i < spoken.said.size(); ++i) {
    (void)co_await exact_bytes(client, spoken.asked[i]);
    const std::string& said = spoken.said[i];
    co_await client.send(said.substr(0, at));
    if (at < said.size()) {
      if (ends) {
        client.close();
        co_return false;
      }
      for (int turn = 0; turn < 3; ++turn) co_await gyre::yield_turn();
      co_await client.send(said.substr(at));
    }
    at -= std::min(at, said.size());
  }
  co_return true;
}

std::size_t size_of(const language& spoken) {
  std::size_t all = 0;
  for (const std::string& each : spoken.said) all += each.size();
  return all;
}

}  // namespace

TEST(client_tunnel, a_tunnel_is_opened_wherever_the_answers_of_the_proxy_are_split) {
  for (const language& spoken : languages())
    for (std::size_t at = 0; at <= size_of(spoken); ++at) {
      std::optional<char> first;
      with_server(
          [&](peer& client) -> gyre::task<> {
            const bool opened = co_await talk(client, spoken, at, false);
            EXPECT_TRUE(opened);
            first = (co_await exact_bytes(client, 1))[0];
          },
          [&](scripted_server& proxy) -> gyre::task<> {
            const auto options = through(with_user(proxy.url(), spoken.scheme));
            http::client client(options);
            (void)co_await fetched(client, spoken.target);
            EXPECT_EQ(first, spoken.target.starts_with("https") ? '\x16' : 'G') << spoken.scheme << at;
          });
    }
}

TEST(client_tunnel, a_tunnel_that_breaks_off_at_any_byte_is_an_error) {
  for (const language& spoken : languages())
    with_server(
        [&](peer& client) -> gyre::task<> {
          const auto at = static_cast<std::size_t>(client.number() - 1);
          EXPECT_FALSE(co_await talk(client, spoken, at, true));
        },
        [&](scripted_server& proxy) -> gyre::task<> {
          const auto options = through(with_user(proxy.url(), spoken.scheme));
          for (std::size_t at = 0; at < size_of(spoken); ++at) {
            http::client client(options);
            const std::string error = co_await fetched(client, spoken.target);
            EXPECT_TRUE(error.ends_with("the proxy refused the connection: it closed the connection")) << at << error;
            EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
          }
          EXPECT_EQ(proxy.connections(), static_cast<int>(size_of(spoken)));
        });
}

TEST(client_tunnel, a_proxy_that_says_nothing_or_never_ends_is_left_in_time) {
  for (const std::string scheme : {"http", "socks5", "socks5h"})
    for (const bool chatters : {false, true})
      with_server(
          [&](peer& client) -> gyre::task<> {
            const std::string words = scheme == "http" ? "HTTP/1.1 102 Wait\r\n\r\n" : "";
            while (chatters) {
              co_await client.send(words);
              co_await gyre::sleep(1ms);
            }
            (void)co_await client.rest();
          },
          [&](scripted_server& proxy) -> gyre::task<> {
            auto options = through(with_user(proxy.url(), scheme));
            options.timeouts.connect = 50ms;
            http::client client(options);
            const std::string error = co_await fetched(client, "https://10.1.2.3/");
            EXPECT_EQ(error,
                      "GET URL (connecting through " + scheme + proxy.url("").substr(4) + "): timed out after 50 ms");
            EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
          });
}

TEST(client_tunnel, each_origin_has_a_tunnel_of_its_own) {
  std::vector<std::string> asked;
  with_server(
      [&](peer& client) -> gyre::task<> {
        asked.push_back(co_await client.request());
        co_await client.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
      },
      [&](scripted_server& proxy) -> gyre::task<> {
        const auto options = through(proxy.url());
        http::client client(options);
        for (const std::string url : {"https://a.test/", "https://b.test/", "https://a.test:444/", "https://[::1]/"})
          EXPECT_NE((co_await fetched(client, url)).find("the proxy refused the connection: it answered \"403 No\""),
                    std::string::npos);
        CO_ASSERT_EQ(asked.size(), 4U);
        EXPECT_EQ(asked[0], "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
        EXPECT_EQ(asked[1], "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n");
        EXPECT_EQ(asked[2], "CONNECT a.test:444 HTTP/1.1\r\nHost: a.test:444\r\n\r\n");
        EXPECT_EQ(asked[3], "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n");
      });
}

TEST(client_tunnel, a_redirect_past_the_proxy_does_not_take_the_password_of_the_proxy_along) {
  std::string direct, proxied;
  with_server(
      [&](peer& client) -> gyre::task<> {
        direct = co_await client.request();
        co_await client.answer("near");
      },
      [&](scripted_server& near) -> gyre::task<> {
        scripted_server proxy([&](peer& client) -> gyre::task<> {
          proxied = co_await client.request();
          co_await client.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + near.url("/x") + "\r\n\r\n");
        });
        auto serving = gyre::spawn(proxy.run());
        auto options = through(with_user(proxy.url(), "http"));
        options.proxies.except = "127.0.0.0/8";
        http::client client(options);
        EXPECT_EQ(co_await fetched(client, "http://far.test/"), "near");
        EXPECT_EQ(proxied.find("GET http://far.test/ HTTP/1.1\r\n"), 0U) << proxied;
        EXPECT_NE(proxied.find("Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n"), std::string::npos) << proxied;
        EXPECT_EQ(direct.find("GET /x HTTP/1.1\r\n"), 0U) << direct;
        EXPECT_EQ(direct.find("uthorization"), std::string::npos) << direct;
        serving.cancel();
        co_await serving.wait();
      });
}

TEST(client_tunnel, credentials_for_a_proxy_are_no_fields_of_a_request) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http::client client;
    auto request = client.request("GET", "http://a.test/");
    EXPECT_THROW(request.header("proxy-authorization", "Basic x"), std::invalid_argument);
    EXPECT_THROW(request.header("Proxy-Connection", "keep-alive"), std::invalid_argument);
    co_return;
  });
}
