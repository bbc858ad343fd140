// tests/client/redirect_test.cpp: where redirects lead, and what they take along.
#include "tests/client/scripted_server.hpp"

#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

/// Redirects "/302/next" to "/next" with that status, and answers everything else with the request itself. All its
/// requests are in `seen`.
struct redirecting {
  std::vector<std::string> seen = {};
  std::string location = {};  // instead of the rest of the path

  gyre::task<> operator()(peer& client) {
    for (;;) {
      const std::string request = co_await client.request();
      if (request.empty()) co_return;
      seen.push_back(request);
      const std::size_t path = request.find(' ') + 2;
      const std::string status = request.substr(path, 3);
      if (status[0] != '3') {
        co_await client.answer(request);
        continue;
      }
      const std::string rest = request.substr(path + 3, request.find(' ', path) - path - 3);
      co_await client.send("HTTP/1.1 " + status + " Elsewhere\r\nContent-Length: 4\r\nLocation: " +
                           (location.empty() ? rest : location) + "\r\n\r\ngone");
    }
  }
};

peer_script script_of(redirecting& site) {
  return [&site](peer& client) -> gyre::task<> { co_await site(client); };
}

}  // namespace

TEST(client_redirect, a_redirect_is_followed_on_the_same_connection) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.get(server.url("/302/302/a?b"));
    EXPECT_EQ(response.url().string(), server.url("/a?b"));
    EXPECT_EQ((co_await response.read_all()).substr(0, 12), "GET /a?b HTT");
    EXPECT_EQ(site.seen.size(), 3U);
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_redirect, a_location_without_a_fragment_inherits_that_of_the_request) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    const auto inherited = co_await client.get(server.url("/302/a#top"));
    EXPECT_EQ(inherited.url().string(), server.url("/a#top"));
    site.location = "/b#end";
    const auto own = co_await client.get(server.url("/302/a#top"));
    EXPECT_EQ(own.url().string(), server.url("/b#end"));
  });
}

TEST(client_redirect, a_target_of_the_program_is_sent_byte_for_byte_until_a_redirect_replaces_it) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto raw = client.request("GET", server.url("/of/the/url"));
    raw.target("/a/../b%?c={\"d\":1}^`<>\\");
    auto echoed = co_await raw.send();
    EXPECT_EQ((co_await echoed.read_all()).substr(0, 38), "GET /a/../b%?c={\"d\":1}^`<>\\ HTTP/1.1\r\n");
    auto redirected = client.request("GET", server.url("/of/the/url"));
    redirected.target("/302/a/../b");
    auto response = co_await redirected.send();
    EXPECT_EQ((co_await response.read_all()).substr(0, 7), "GET /b ");
    auto next = client.request("GET", server.url("/of/the/url"));
    auto ordinary = co_await next.send();
    EXPECT_EQ((co_await ordinary.read_all()).substr(0, 16), "GET /of/the/url ");
    for (const char* const wrong : {"", "a", "*", "/a b", "/a#b", "/\xc3\xa4", "/a\r\nb: c"}) {
      auto refused = client.request("GET", server.url("/"));
      EXPECT_THROW(refused.target(wrong), std::invalid_argument) << wrong;
    }
  });
}

TEST(client_redirect, the_status_decides_about_method_and_body) {
  struct expectation {
    std::string status, method, result;
  };
  for (const expectation& each : std::vector<expectation>{{"301", "POST", "GET"},
                                                          {"302", "POST", "GET"},
                                                          {"303", "POST", "GET"},
                                                          {"307", "POST", "POST"},
                                                          {"308", "POST", "POST"},
                                                          {"301", "PUT", "PUT"},
                                                          {"302", "DELETE", "DELETE"},
                                                          {"303", "PUT", "GET"},
                                                          {"303", "HEAD", "HEAD"}}) {
    redirecting site;
    with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto request = client.request(each.method, server.url("/" + each.status + "/a"));
      if (each.method != "HEAD") request.body("text", "text/plain");
      auto response = co_await request.send();
      CO_ASSERT_EQ(site.seen.size(), 2U);
      const std::string& second = site.seen[1];
      EXPECT_EQ(second.substr(0, second.find(' ')), each.result) << each.status;
      const bool keeps = each.result == each.method && each.method != "HEAD";
      EXPECT_EQ(second.ends_with("text"), keeps) << second;
      EXPECT_EQ(second.find("Content-Type") != std::string::npos, keeps) << second;
    });
  }
}

TEST(client_redirect, a_loop_of_redirects_ends_at_the_limit) {
  redirecting site;
  with_server(script_of(site), [&](scripted_server& server) -> gyre::task<> {
    site.location = "/302/again";
    http::client client({.redirects = {.max = 3}});
    EXPECT_EQ(co_await error_of(client.get(server.url("/302/again"))),
              "GET " + server.url("/302/again") + ": too many redirects: /302/again");
    EXPECT_EQ(site.seen.size(), 4U);
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_redirect, an_empty_location_is_none) {
  with_client(answers_once("HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 4\r\n\r\nbody"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                auto response = co_await client.get(server.url("/a"));
                EXPECT_EQ(response.status(), 302);
                EXPECT_EQ(co_await response.read_all(), "body");
              });
}

TEST(client_redirect, characters_that_no_url_has_are_sent_as_browsers_send_them) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    for (const auto& [location, target] :
         std::vector<std::pair<std::string, std::string>>{{"/100%", "/100%"},
                                                          {"/a b\"<>`", "/a%20b%22%3C%3E%60"},
                                                          {"/caf\xc3\xa9?q=%u00e9", "/caf%C3%A9?q=%u00e9"}}) {
      site.location = location;
      auto response = co_await client.get(server.url("/302/"));
      EXPECT_EQ((co_await response.read_all()).substr(0, 5 + target.size()), "GET " + target + " ");
    }
  });
}

TEST(client_redirect, a_redirect_is_the_result_when_none_is_wanted) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("GET", server.url("/302/a"));
    auto response = co_await request.redirects(0).send();
    EXPECT_EQ(response.status(), 302);
    EXPECT_EQ(response.field("Location"), "/a");
    EXPECT_EQ(co_await response.read_all(), "gone");
  });
}

TEST(client_redirect, a_redirect_to_something_that_is_no_url_is_an_error) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    const std::string asked = "GET " + server.url("/302/") + ": the redirect is refused: ";
    site.location = "ftp://a/b";
    EXPECT_EQ(co_await error_of(client.get(server.url("/302/"))),
              asked + "url \"ftp://a/b\": the scheme is not http or https");
    site.location = "socks5://a/b";
    EXPECT_EQ(co_await error_of(client.get(server.url("/302/"))), asked + "socks5://a/b");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_redirect, a_body_that_can_be_read_only_once_cannot_be_repeated) {
  redirecting site;
  with_client(script_of(site), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("PUT", server.url("/307/a"));
    int left = 1;
    request.body(
        [&left]() -> gyre::task<std::string_view> {
          co_await gyre::yield();
          co_return left-- > 0 ? "abc" : "";
        },
        3);
    EXPECT_EQ(co_await error_of(request.send()),
              "PUT " + server.url("/307/a") + ": the request must be sent again, but its body cannot be read twice");
  });
}

TEST(client_redirect, the_total_time_covers_all_redirects) {
  with_server(
      [](peer& client) -> gyre::task<> {
        for (int i = 0;; ++i) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          co_await gyre::sleep(2ms);
          co_await client.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /" + std::to_string(i) +
                               "\r\n\r\n");
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.timeouts = {.total = 20ms}, .redirects = {.max = 1'000'000}});
        EXPECT_NE((co_await error_of(client.get(server.url()))).find("timed out after 20 ms"), std::string::npos);
      });
}

TEST(client_redirect, a_cancel_while_the_next_connection_is_made_keeps_none) {
  redirecting site;
  with_server(script_of(site), [&](scripted_server& server) -> gyre::task<> {
    scripted_server silent([](peer& client) -> gyre::task<> { (void)co_await client.rest(); });
    auto serving = gyre::spawn(silent.run());
    site.location = "https" + silent.url().substr(4);  // its handshake never ends
    http::client client;
    auto asking = gyre::spawn([&]() -> gyre::task<> { (void)co_await client.get(server.url("/302/")); });
    for (int i = 0; i < 10'000 && silent.connections() == 0; ++i) co_await gyre::sleep(100us);
    asking.cancel();
    co_await asking.wait();
    EXPECT_EQ(client.counts().idle, 1U);  // the one that has redirected
    EXPECT_EQ(client.counts().in_use, 0U);
    serving.cancel();
    co_await serving.wait();
  });
}
