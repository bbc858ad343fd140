// tests/client/cookie_jar_test.cpp: which cookies are kept, and where they go.
#include <gyre/client/cookie_jar.hpp>

#include "tests/client/scripted_server.hpp"

#include <string>
#include <string_view>

using namespace gyre_test;

namespace {

constexpr http::unix_seconds today = 1'700'000'000;

struct jar {
  http::cookie_jar cookies = {};
  jar& set(std::string_view from, std::string_view cookie) {
    cookies.store(http::url(from), cookie, today);
    return *this;
  }
  [[nodiscard]] std::string get(std::string_view to, http::unix_seconds later = 0) const {
    std::string out;
    cookies.append_for(http::url(to), today + later, out);
    return out;
  }
};

/// Returns the cookies that a request to the same URL gets after this Set-Cookie field.
std::string kept(std::string_view url, std::string_view cookie) { return jar().set(url, cookie).get(url); }

}  // namespace

TEST(cookie_jar, a_cookie_goes_back_to_its_host_and_directory) {
  jar all;
  all.set("http://a.test/dir/page", "x=1");
  EXPECT_EQ(all.get("http://a.test/dir/other?q"), "x=1");
  EXPECT_EQ(all.get("http://a.test/dir"), "x=1");
  EXPECT_EQ(all.get("http://a.test/directory"), "");
  EXPECT_EQ(all.get("http://a.test/"), "");
  EXPECT_EQ(all.get("http://b.a.test/dir/"), "");
  EXPECT_EQ(all.get("https://a.test:8443/dir/"), "x=1");  // the port does not count
}

TEST(cookie_jar, a_domain_covers_the_hosts_below_it) {
  jar all;
  all.set("http://www.a.test/", "x=1; Domain=.A.test");
  EXPECT_EQ(all.get("http://a.test/"), "x=1");
  EXPECT_EQ(all.get("http://b.a.test/"), "x=1");
  EXPECT_EQ(all.get("http://ba.test/"), "");
}

TEST(cookie_jar, a_dot_at_the_end_opens_no_other_domain) {
  EXPECT_EQ(kept("http://evil.com./", "x=1; Domain=com."), "");
  EXPECT_EQ(kept("http://evil.com./", "x=1; Domain=.com."), "");
  EXPECT_EQ(kept("http://evil.com../", "x=1; Domain=com.."), "");
  EXPECT_EQ(kept("http://evil.com./", "x=1; Domain=."), "x=1") << "as without Domain";
  EXPECT_EQ(kept("http://127.0.0.1./", "x=1; Domain=0.0.1."), "");
  jar all;
  all.set("http://evil.com./", "x=1; Domain=evil.com.").set("http://127.0.0.1./", "y=1; Domain=127.0.0.1.");
  EXPECT_EQ(all.get("http://a.evil.com./"), "x=1");
  EXPECT_EQ(all.get("http://evil.com/"), "");
  EXPECT_EQ(all.get("http://a.127.0.0.1./"), "");
  jar strict;
  strict.cookies.is_public_suffix = [](std::string_view domain) { return domain == "co.uk"; };
  strict.set("http://evil.co.uk./", "x=1; Domain=co.uk.");
  EXPECT_EQ(strict.get("http://other.co.uk./"), "");
  EXPECT_EQ(kept("http://com./", "x=1; Domain=com."), "x=1") << "the host itself";
}

TEST(cookie_jar, a_host_sets_cookies_only_for_itself_and_the_domains_above) {
  EXPECT_EQ(kept("http://a.test/", "x=1; Domain=b.test"), "");
  EXPECT_EQ(kept("http://a.test/", "x=1; Domain=c.a.test"), "");
  EXPECT_EQ(kept("http://a.test/", "x=1; Domain=test"), "");
  EXPECT_EQ(kept("http://localhost/", "x=1; Domain=localhost"), "x=1");
  EXPECT_EQ(kept("http://127.0.0.1/", "x=1; Domain=127.0.0.1"), "x=1");
  EXPECT_EQ(kept("http://127.0.0.1/", "x=1; Domain=0.0.1"), "");
  jar strict;
  strict.cookies.is_public_suffix = [](std::string_view domain) { return domain == "co.uk"; };
  EXPECT_EQ(strict.set("http://a.co.uk/", "x=1; Domain=co.uk").get("http://b.co.uk/"), "");
  EXPECT_EQ(strict.set("http://a.co.uk/", "x=1; Domain=a.co.uk").get("http://b.a.co.uk/"), "x=1");
}

#ifdef GYRE_WITH_LIBPSL
TEST(cookie_jar, no_host_sets_cookies_for_a_suffix_in_the_list_of_libpsl) {
  for (const char* const suffix : {"com", "co.uk", "github.io", "s3.amazonaws.com"}) {
    const std::string host = std::string("http://evil.") + suffix + "/";
    EXPECT_EQ(kept(host, std::string("x=1; Domain=") + suffix), "") << suffix;
    EXPECT_EQ(kept(host, std::string("x=1; Domain=evil.") + suffix), "x=1") << suffix;
  }
  EXPECT_EQ(kept("http://a.example.com/", "x=1; Domain=example.com"), "x=1");
  EXPECT_EQ(kept("http://co.uk/", "x=1; Domain=co.uk"), "x=1") << "the host itself";
}
#else
TEST(cookie_jar, only_domains_without_a_dot_are_public_without_libpsl) {
  EXPECT_EQ(kept("http://a.com/", "x=1; Domain=com"), "");
  EXPECT_EQ(kept("http://a.co.uk/", "x=1; Domain=co.uk"), "x=1");
}
#endif

TEST(cookie_jar, cookies_that_have_expired_are_forgotten) {
  jar all;
  all.set("http://a.test/", "x=1; Max-Age=10").set("http://a.test/", "y=2; Expires=Tue, 14 Nov 2023 22:14:00 GMT");
  EXPECT_EQ(all.get("http://a.test/", 9), "x=1; y=2");
  EXPECT_EQ(all.get("http://a.test/", 10), "y=2");
  EXPECT_EQ(all.get("http://a.test/", 40), "");
  EXPECT_EQ(all.set("http://a.test/", "x=; Max-Age=0").get("http://a.test/"), "y=2");
  EXPECT_EQ(all.set("http://a.test/", "y=; Expires=Thu, 01-Jan-1970 00:00:00 GMT").get("http://a.test/"), "");
  EXPECT_EQ(kept("http://a.test/", "x=1; Max-Age=99999999999999999999"), "x=1");
  EXPECT_EQ(kept("http://a.test/", "x=1; Max-Age=0; Expires=Wed, 21 Oct 2099 07:28:00 GMT"), "");
  EXPECT_EQ(kept("http://a.test/", "x=1; Max-Age=soon"), "x=1");
}

TEST(cookie_jar, the_longest_path_comes_first_then_the_oldest) {
  jar all;
  all.set("http://a.test/", "a=1").set("http://a.test/", "b=2").set("http://a.test/", "c=3; Path=/x");
  EXPECT_EQ(all.get("http://a.test/x/y"), "c=3; a=1; b=2");
  EXPECT_EQ(all.set("http://a.test/", "a=4").get("http://a.test/"), "a=4; b=2");
  EXPECT_EQ(all.cookies.all().size(), 3U);
}

TEST(cookie_jar, secure_cookies_need_encryption) {
  EXPECT_EQ(kept("http://a.test/", "x=1; Secure"), "");
  jar all;
  all.set("https://a.test/", "x=1; Secure; HttpOnly; SameSite=Lax");
  EXPECT_EQ(all.get("https://a.test/"), "x=1");
  EXPECT_EQ(all.get("http://a.test/"), "");
  EXPECT_EQ(all.set("http://a.test/", "x=evil").get("https://a.test/"), "x=1");
  EXPECT_EQ(kept("https://a.test/", "__Host-x=1; Secure; Path=/"), "__Host-x=1");
  EXPECT_EQ(kept("https://a.test/", "__Host-x=1; Secure; Path=/; Domain=a.test"), "");
  EXPECT_EQ(kept("https://a.test/", "__host-x=1; Path=/"), "");
  EXPECT_EQ(kept("https://a.test/", "__Secure-x=1"), "");
  EXPECT_EQ(kept("https://a.test/", "=__Secure-x=1"), "");
}

TEST(cookie_jar, a_page_without_encryption_hides_no_secure_cookie_of_its_domain_of_one_above_or_of_one_below) {
  for (const auto& [secure, open] : {std::pair{"https://b.a.test/", "http://b.a.test/"},
                                     {"https://b.a.test/", "http://c.a.test/"},
                                     {"https://a.test/", "http://b.a.test/"}}) {
    jar all;
    all.set(secure, "x=1; Secure; Domain=a.test");
    EXPECT_EQ(all.set(open, "x=evil").get("https://b.a.test/"), "x=1") << open;
  }
  jar below;
  below.set("https://b.a.test/", "x=1; Secure").set("https://ba.test/", "x=2; Secure");
  EXPECT_EQ(below.set("http://a.test/", "x=evil; Domain=a.test").get("https://b.a.test/"), "x=1");
  EXPECT_EQ(below.set("http://a.test/", "y=3; Domain=a.test").get("https://b.a.test/"), "x=1; y=3");
  EXPECT_EQ(below.set("http://a-b.test/", "x=4").get("http://a-b.test/"), "x=4");
}

TEST(cookie_jar, a_copy_has_cookies_of_its_own) {
  jar all;
  EXPECT_EQ(all.get("http://a.test/"), "");
  all.set("http://a.test/", "x=1");
  jar other = all;
  EXPECT_EQ(other.set("http://a.test/", "y=2").get("http://a.test/"), "x=1; y=2");
  EXPECT_EQ(all.get("http://a.test/"), "x=1");
  all.cookies.clear();
  EXPECT_EQ(all.get("http://a.test/"), "");
  EXPECT_TRUE(all.cookies.all().empty());
  all = std::move(other);
  EXPECT_EQ(all.get("http://a.test/"), "x=1; y=2");
}

TEST(cookie_jar, text_that_is_no_cookie_is_ignored) {
  using namespace std::string_view_literals;
  EXPECT_EQ(kept("http://a.test/", ""), "");
  EXPECT_EQ(kept("http://a.test/", "="), "");
  EXPECT_EQ(kept("http://a.test/", "; Path=/"), "");
  EXPECT_EQ(kept("http://a.test/", "x=a\r\nb"sv), "");
  EXPECT_EQ(kept("http://a.test/", "x=a\0b"sv), "");
  EXPECT_EQ(kept("http://a.test/", "x=" + std::string(5000, 'a')), "");
  EXPECT_EQ(kept("http://a.test/", " x = a b ;;;=;Unknown"), "x=a b");
  EXPECT_EQ(kept("http://a.test/", "alone"), "alone");
}

TEST(cookie_jar, the_oldest_cookies_of_a_domain_make_room) {
  jar all;
  for (int i = 0; i < 200; ++i) all.set("http://a.test/", "c" + std::to_string(i) + "=1");
  EXPECT_EQ(all.cookies.all().size(), 180U);
  EXPECT_EQ(all.get("http://a.test/").substr(0, 5), "c20=1");
  for (int i = 0; i < 4000; ++i) all.set("http://h" + std::to_string(i) + ".test/", "c=1");
  EXPECT_EQ(all.cookies.all().size(), 3000U);
}

TEST(cookie_jar, a_client_with_cookies_sends_them_back_along_redirects) {
  std::string seen;
  with_server(
      [&](peer& client) -> gyre::task<> {
        for (;;) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          const std::size_t at = request.find("Cookie: ");
          seen += (at == std::string::npos ? "-" : request.substr(at + 8, request.find("\r\n", at) - at - 8)) + "|";
          if (request.starts_with("GET /login"))
            co_await client.send(
                "HTTP/1.1 302 Found\r\nLocation: /\r\nSet-Cookie: id=7; Path=/\r\nSet-Cookie: b=c\r\n"
                "Content-Length: 0\r\n\r\n");
          else
            co_await client.answer("hello");
        }
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client({.cookies = true});
        EXPECT_EQ(co_await fetched(client, server.url("/login")), "hello");
        auto own = client.request("GET", server.url());
        auto response = co_await own.header("Cookie", "mine=1").send();
        EXPECT_EQ(seen, "-|id=7; b=c|mine=1|");
        EXPECT_EQ(client.cookies().all().size(), 2U);
        http::client without;
        EXPECT_EQ(co_await fetched(without, server.url("/login")), "hello");
        EXPECT_EQ(seen, "-|id=7; b=c|mine=1|-|-|");
      });
}
