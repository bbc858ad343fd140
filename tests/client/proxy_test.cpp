// tests/client/proxy_test.cpp: requests through proxies.
#include <gyre/tls.hpp>

#include "tests/client/through_proxy.hpp"

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;
namespace tls = gyre::tls;

namespace {

std::string with_scheme(std::string url, const std::string& scheme) { return scheme + url.substr(4); }

/// A SOCKS 5 proxy that lets everybody in, and answers the tunnelled request itself.
struct socks_proxy {
  std::string methods = {};
  std::string login = {};
  std::string target = {};
  char reply = 0;
  bool wants_login = false;

  gyre::task<> operator()(peer& client) {
    const std::string begin = co_await exact_bytes(client, 2);
    methods = co_await exact_bytes(client, static_cast<unsigned char>(begin[1]));
    std::string chosen("\x05\x00", 2);
    if (wants_login) chosen[1] = 2;
    co_await client.send(chosen);
    if (wants_login) {
      const std::string size = co_await exact_bytes(client, 2);
      const std::string user = co_await exact_bytes(client, static_cast<unsigned char>(size[1]));
      const std::string next = co_await exact_bytes(client, 1);
      const std::string password = co_await exact_bytes(client, static_cast<unsigned char>(next[0]));
      login = user + ":" + password;
      co_await client.send(std::string("\x01\x00", 2));
    }
    const std::string request = co_await exact_bytes(client, 4);
    std::size_t size = request[3] == 1 ? 4 : 16;
    if (request[3] == 3) {
      const std::string length = co_await exact_bytes(client, 1);
      size = static_cast<unsigned char>(length[0]);
    }
    target = co_await exact_bytes(client, size);
    (void)co_await exact_bytes(client, 2);
    std::string answer("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50", 10);
    answer[1] = reply;
    co_await client.send(answer);
    if (reply == 0) co_await say_hello(client);
  }
};

}  // namespace

TEST(client_proxy, a_plain_request_names_the_whole_url) {
  std::string seen;
  with_server(keeps_request(seen), [&](scripted_server& proxy) -> gyre::task<> {
    std::string url = proxy.url();
    url.insert(url.find("//") + 2, "ann:secret@");
    const auto options = through(url);
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, "http://far.test/a?b#c"), "hello");
    EXPECT_EQ(seen.find("GET http://far.test/a?b HTTP/1.1\r\nHost: far.test\r\n"), 0U) << seen;
    EXPECT_NE(seen.find("Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n"), std::string::npos) << seen;
    EXPECT_EQ(co_await fetched(client, "http://far.test/"), "hello");
    auto raw = client.request("GET", "http://far.test/a");
    auto passed = co_await raw.target("/100%/../").send();
    (void)co_await passed.read_all();
    EXPECT_EQ(seen.find("GET http://far.test/100%/../ HTTP/1.1\r\n"), 0U) << seen;
    EXPECT_EQ(proxy.connections(), 1);
  });
}

TEST(client_proxy, an_encrypted_request_goes_through_a_tunnel) {
  const auto certificate = tls::certificate::self_signed({"far.test"});
  std::string asked;
  with_server(
      [&](peer& client) -> gyre::task<> {
        asked = co_await client.request();
        co_await client.send("HTTP/1.1 200 Connection established\r\n\r\n");
        tls::server_options options;
        options.certificates.push_back(certificate);
        const tls::server_config config(options);
        auto accepting = tls::accept(std::move(client.stream()), config);
        tls::stream stream = co_await std::move(accepting);
        std::array<char, 4096> buffer{};
        for (;;) {
          auto reading = stream.read_some(std::span<char>(buffer));
          const std::size_t count = co_await std::move(reading);
          if (count == 0) co_return;
          const std::string_view request(buffer.data(), count);
          EXPECT_EQ(request.find("GET / HTTP/1.1\r\nHost: far.test\r\n"), 0U) << request;
          EXPECT_EQ(request.find("Proxy-Authorization"), std::string_view::npos);
          co_await stream.write_all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
      },
      [&](scripted_server& proxy) -> gyre::task<> {
        std::string url = proxy.url();
        url.insert(url.find("//") + 2, "ann:secret@");
        auto options = through(url);
        options.tls = tls::client_config({.authorities = certificate.chain});
        http::client client(options);
        EXPECT_EQ(co_await fetched(client, "https://far.test/"), "hello");
        EXPECT_EQ(co_await fetched(client, "https://far.test/"), "hello");
        EXPECT_EQ(asked,
                  "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nProxy-Authorization: Basic "
                  "YW5uOnNlY3JldA==\r\n\r\n");
        EXPECT_EQ(proxy.connections(), 1);
      });
}

TEST(client_proxy, a_proxy_that_refuses_breaks_off_or_is_not_there_is_named_with_the_reason) {
  const auto expect_failure = [](peer_script script, std::string scheme, std::string url, std::string reason) {
    with_server(std::move(script), [&](scripted_server& server) -> gyre::task<> {
      const std::string proxy = with_scheme(server.url(""), scheme);
      http::client client(through(proxy));
      EXPECT_EQ(co_await fetched(client, url),
                "connect far.test:" + std::to_string(http::url(url).port()) + " through " + proxy + ": " + reason);
      EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
    });
  };
  const std::string refused = "the proxy refused the connection: ";
  for (const auto& [answer, reason] : std::vector<std::pair<std::string, std::string>>{
           {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "it answered \"407 Proxy Authentication Required\""},
           {"HTTP/1.1 200 OK\r\n\r\nsurplus", "it sends data after its answer"},
           {"", "it closed the connection"}})
    expect_failure(answers_once(answer), "http", "https://far.test/", refused + reason);
  const auto breaks = [](bool resets) {
    return [resets](peer& client) -> gyre::task<> {
      (void)co_await exact_bytes(client, 3);
      resets ? client.reset() : client.close();
    };
  };
  expect_failure(breaks(false), "socks5h", "http://far.test/", refused + "it closed the connection");
  expect_failure(breaks(true), "socks5h", "http://far.test/", "Connection reset by peer");
}

TEST(client_proxy, a_socks_proxy_gets_names_addresses_and_a_login_and_says_why_it_refuses) {
  socks_proxy proxy;
  with_server([&](peer& client) -> gyre::task<> { co_await proxy(client); },
              [&](scripted_server& server) -> gyre::task<> {
                std::string url = with_scheme(server.url(), "socks5h");
                const std::string where(http::url(url).origin());
                http::client client(through(url));
                EXPECT_EQ(co_await fetched(client, "http://far.test/"), "hello");
                EXPECT_EQ(proxy.target, "far.test");
                EXPECT_EQ(proxy.methods, std::string(1, '\0'));
                EXPECT_EQ(co_await fetched(client, "http://10.1.2.3:81/"), "hello");
                EXPECT_EQ(proxy.target, "\x0a\x01\x02\x03");
                auto here = through(with_scheme(server.url(), "socks5"));
                here.resolving.lookup = [](const std::string&) {
                  return gyre::lookup_result{.addresses = {*gyre::address::parse("10.9.8.7", 0)}, .error = {}};
                };
                // The proxy's own address is numeric, so only the target is looked up.
                http::client resolving(here);
                EXPECT_EQ(co_await fetched(resolving, "http://far.test/"), "hello");
                EXPECT_EQ(proxy.target, "\x0a\x09\x08\x07");

                proxy.wants_login = true;
                http::client with_login(through(url.insert(url.find("//") + 2, "ann:secret@")));
                EXPECT_EQ(co_await fetched(with_login, "http://far.test/"), "hello");
                EXPECT_EQ(proxy.login, "ann:secret");
                for (const auto& [code, reason] : {std::pair(5, "connection refused"), {42, "unknown reason"}}) {
                  proxy.reply = static_cast<char>(code);
                  EXPECT_EQ(co_await fetched(with_login, "http://other.test/"),
                            "connect other.test:80 through " + where +
                                ": the proxy refused the connection: it answered \"" + reason + "\" (" +
                                std::to_string(code) + ")");
                }
              });
}

TEST(client_proxy, a_proxy_that_is_not_there_is_named) {
  run_real([]() -> gyre::task<> {
    std::string where;
    {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      where = listener.local_address().string();
    }
    for (const std::string scheme : {"http", "socks5", "socks5h"})
      for (const auto& [url, target] : std::vector<std::pair<std::string, std::string>>{
               {"http://10.1.2.3/", "10.1.2.3:80"}, {"https://[fd00::1]:81/", "[fd00::1]:81"}}) {
        std::string proxy = scheme;
        proxy.append("://").append(where);
        http::client client(through(proxy));
        EXPECT_EQ(co_await fetched(client, url), "connect " + target + " through " + proxy + ": Connection refused");
      }
  });
}
