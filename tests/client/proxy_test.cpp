// tests/client/proxy_test.cpp: requests through proxies.
#include <gyre/tls.hpp>

#include "tests/client/through_proxy.hpp"

#include <array>
#include <cstdlib>
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
  with_server(
      [&](peer& client) -> gyre::task<> {
        for (;;) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          seen = request;
          co_await client.answer("hello");
        }
      },
      [&](scripted_server& proxy) -> gyre::task<> {
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

TEST(client_proxy, that_refuses_a_tunnel_is_an_error_with_its_reason) {
  for (const auto& [answer, reason] : std::vector<std::pair<std::string, std::string>>{
           {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "it answered \"407 Proxy Authentication Required\""},
           {"HTTP/1.1 200 OK\r\n\r\nsurplus", "it sends data after its answer"},
           {"", "it closed the connection"}})
    with_server(answers_once(answer), [&](scripted_server& proxy) -> gyre::task<> {
      const auto options = through(proxy.url());
      http::client client(options);
      const std::string where(http::url(proxy.url()).origin());
      EXPECT_EQ(co_await fetched(client, "https://far.test/"),
                "connect far.test:443 through " + where + ": the proxy refused the connection: " + reason);
      EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
    });
}

TEST(client_proxy, socks_carries_names_and_addresses) {
  socks_proxy proxy;
  with_server([&](peer& client) -> gyre::task<> { co_await proxy(client); },
              [&](scripted_server& server) -> gyre::task<> {
                const auto by_proxy = through(with_scheme(server.url(), "socks5h"));
                http::client client(by_proxy);
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
              });
}

TEST(client_proxy, socks_logs_in_and_says_why_it_refuses) {
  socks_proxy proxy;
  with_server([&](peer& client) -> gyre::task<> { co_await proxy(client); },
              [&](scripted_server& server) -> gyre::task<> {
                proxy.wants_login = true;
                std::string url = with_scheme(server.url(), "socks5h");
                const std::string where(http::url(url).origin());
                url.insert(url.find("//") + 2, "ann:secret@");
                const auto options = through(url);
                http::client client(options);
                EXPECT_EQ(co_await fetched(client, "http://far.test/"), "hello");
                EXPECT_EQ(proxy.login, "ann:secret");
                proxy.reply = 5;
                EXPECT_EQ(co_await fetched(client, "http://other.test/"),
                          "connect other.test:80 through " + where +
                              ": the proxy refused the connection: it answered \"connection refused\" (5)");
                proxy.reply = 42;
                EXPECT_EQ(co_await fetched(client, "http://other.test/"),
                          "connect other.test:80 through " + where +
                              ": the proxy refused the connection: it answered \"unknown reason\" (42)");
              });
}

TEST(client_proxy, that_breaks_the_connection_is_named) {
  const auto breaks = [](peer& client) -> gyre::task<> {
    (void)co_await exact_bytes(client, 3);
    if (client.number() == 1)
      client.close();
    else
      client.reset();
  };
  with_server(breaks, [](scripted_server& server) -> gyre::task<> {
    const std::string url = with_scheme(server.url(), "socks5h");
    const std::string through_it = "connect far.test:80 through " + std::string(http::url(url).origin()) + ": ";
    http::client client(through(url));
    EXPECT_EQ(co_await fetched(client, "http://far.test/"),
              through_it + "the proxy refused the connection: it closed the connection");
    EXPECT_EQ(co_await fetched(client, "http://far.test/"), through_it + "Connection reset by peer");
  });
}

TEST(client_proxy, that_is_not_there_is_named) {
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

TEST(client_proxy, that_does_not_answer_in_time_is_named) {
  const auto silent = [](peer& client) -> gyre::task<> { (void)co_await client.rest(); };
  with_server(silent, [](scripted_server& server) -> gyre::task<> {
    const std::string url = with_scheme(server.url(), "socks5h");
    auto options = through(url);
    options.timeouts.connect = 60ms;
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, "http://far.test/"),
              "GET URL (connecting through " + std::string(http::url(url).origin()) + "): timed out after 60 ms");
  });
}

TEST(client_proxy, hosts_can_be_excepted) {
  const auto listed = [](std::string_view list, std::string_view url) { return http::is_listed(list, http::url(url)); };
  EXPECT_TRUE(listed("*", "http://a/"));
  EXPECT_TRUE(listed("b, Example.ORG", "http://example.org/"));
  EXPECT_TRUE(listed("example.org", "http://a.example.org/"));
  EXPECT_TRUE(listed(".example.org", "http://a.example.org/"));
  EXPECT_TRUE(listed("*.example.org", "http://a.example.org/"));
  EXPECT_FALSE(listed("example.org", "http://badexample.org/"));
  EXPECT_FALSE(listed("a.example.org", "http://example.org/"));
  EXPECT_TRUE(listed("a:8080", "http://a:8080/"));
  EXPECT_FALSE(listed("a:8080", "http://a/"));
  EXPECT_TRUE(listed("10.0.0.0/8", "http://10.200.3.4/"));
  EXPECT_FALSE(listed("10.0.0.0/8", "http://11.0.0.1/"));
  EXPECT_FALSE(listed("10.0.0.0/33", "http://10.0.0.1/"));
  EXPECT_TRUE(listed("fd00::/8", "http://[fd12::1]/"));
  EXPECT_FALSE(listed("fd00::/8", "http://[fe80::1]/"));
  EXPECT_TRUE(listed("::1,127.0.0.1", "http://[::1]/"));
  EXPECT_TRUE(listed("127.0.0.1", "http://127.0.0.1:99/"));
  EXPECT_FALSE(listed("0.0.1", "http://127.0.0.1/"));
  EXPECT_FALSE(listed("", "http://a/"));
  EXPECT_TRUE(listed("a.example.org", "http://A.EXAMPLE.org/"));
  EXPECT_TRUE(listed("A.EXAMPLE.ORG:80", "http://a.example.org/"));
  EXPECT_TRUE(listed("10.1.2.3/32", "http://10.1.2.3/"));
  EXPECT_FALSE(listed("10.1.2.3/32", "http://10.1.2.2/"));
  EXPECT_TRUE(listed("10.1.2.3/31", "http://10.1.2.2/"));
  EXPECT_TRUE(listed("0.0.0.0/0", "http://10.1.2.3/"));
  EXPECT_FALSE(listed("0.0.0.0/0", "http://[::1]/"));
  EXPECT_FALSE(listed("0.0.0.0/0", "http://a.test/")) << "a name is not looked up for this";
  EXPECT_FALSE(listed("10.0.0.0/", "http://10.0.0.0/"));
  EXPECT_FALSE(listed("10.0.0.0/-1", "http://10.0.0.0/"));
}

TEST(client_proxy, exceptions_have_the_forms_that_other_programs_read) {
  const auto listed = [](std::string_view list, std::string_view url) { return http::is_listed(list, http::url(url)); };
  for (const char* const list :
       {"a.b 127.0.0.1", "a.b,127.0.0.1", "a.b , 127.0.0.1", "a.b\t127.0.0.1", " ,127.0.0.1, "})
    EXPECT_TRUE(listed(list, "http://127.0.0.1/")) << list;
  for (const char* const list : {"localhost.", "localhost", "localhost.:80", "localhost:80"})
    for (const char* const url : {"http://localhost/", "http://localhost./"})
      EXPECT_TRUE(listed(list, url)) << list << url;
  EXPECT_TRUE(listed("example.org.", "http://a.example.org/"));
  EXPECT_TRUE(listed(".example.org", "http://a.example.org./"));
  EXPECT_TRUE(listed("[::1]", "http://[::1]/"));
  EXPECT_TRUE(listed("[::1]:80", "http://[::1]/"));
  EXPECT_TRUE(listed("127.0.0.1:8080", "http://127.0.0.1:8080/"));
  EXPECT_FALSE(listed("[::1]:80", "http://[::1]:81/"));
  EXPECT_FALSE(listed("127.0.0.1:8080", "http://127.0.0.1/"));
  for (const char* const list : {".", "..", " ", ",", "[", "[]", "[:", ":", ":80", "*.", "a*"}) {
    EXPECT_FALSE(listed(list, "http://a/")) << list;
    EXPECT_FALSE(listed(list, "http://[::1]/")) << list;
  }
}

TEST(client_proxy, the_environment_names_proxies) {
  const std::pair<const char*, const char*> all[] = {
      {"http_proxy", "proxy.test:3128"}, {"HTTPS_PROXY", "socks5h://u:p@socks.test"}, {"no_proxy", "near.test"}};
  for (const auto& [name, value] : all) ::setenv(name, value, 1);
  const auto found = http::proxy_options::from_environment();
  EXPECT_EQ(found.find(http::url("http://far.test/"))->string(), "http://proxy.test:3128/");
  EXPECT_EQ(found.find(http::url("https://far.test/"))->host(), "socks.test");
  EXPECT_EQ(found.find(http::url("https://near.test/")), nullptr);
  for (const auto& [name, value] : all) ::unsetenv(name);
  EXPECT_EQ(http::proxy_options::from_environment().find(http::url("http://far.test/")), nullptr);
}

TEST(client_proxy, the_environment_may_use_capitals_except_for_a_variable_that_a_cgi_client_can_set) {
  const std::pair<const char*, const char*> all[] = {
      {"HTTP_PROXY", "evil.test"}, {"ALL_PROXY", "all.test"}, {"NO_PROXY", "Near.test,10.0.0.0/8"}};
  for (const auto& [name, value] : all) ::setenv(name, value, 1);
  const auto found = http::proxy_options::from_environment();
  EXPECT_EQ(found.find(http::url("http://far.test/"))->host(), "all.test");
  EXPECT_EQ(found.find(http::url("https://far.test/"))->host(), "all.test");
  EXPECT_EQ(found.find(http::url("https://www.near.test/")), nullptr);
  EXPECT_EQ(found.find(http::url("http://10.1.2.3/")), nullptr);
  for (const auto& [name, value] : all) ::unsetenv(name);
}

TEST(client_proxy, text_without_a_scheme_means_http) {
  EXPECT_EQ(http::proxy_options::parse("proxy.test:3128")->string(), "http://proxy.test:3128/");
  EXPECT_EQ(http::proxy_options::parse("socks5h://proxy.test")->scheme(), "socks5h");
  EXPECT_EQ(http::proxy_options::parse("https://proxy.test").error(),
            "proxy \"https://proxy.test\": expected http://, socks5:// or socks5h://");
  EXPECT_FALSE(http::proxy_options::parse(""));
  EXPECT_FALSE(http::proxy_options::parse("a b"));
}

TEST(client_proxy, a_variable_that_names_no_proxy_is_an_error_of_the_requests_that_would_use_it) {
  ::setenv("https_proxy", "https://ann:secret@proxy.test", 1);
  ::setenv("no_proxy", "near.test", 1);
  const auto found = http::proxy_options::from_environment();
  EXPECT_EQ(found.find(http::url("http://a.test/")), nullptr);
  EXPECT_EQ(found.find(http::url("https://near.test/")), nullptr);
  const std::string sentence =
      "https_proxy in the environment: proxy \"https://proxy.test\": expected http://, socks5:// or socks5h://";
  run_real([&]() -> gyre::task<> {
    http::client client({.proxies = found});
    EXPECT_EQ(co_await error_of(client.get("https://a.test/")), sentence);
  });
  ::unsetenv("https_proxy");
  ::unsetenv("no_proxy");
}

TEST(client_proxy, one_with_tls_is_refused_when_the_client_is_made) {
  EXPECT_THROW(http::client(through("https://proxy.test/")), std::invalid_argument);
}
