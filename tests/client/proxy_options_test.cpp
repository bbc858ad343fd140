// tests/client/proxy_options_test.cpp: which proxy a request goes through, by the options and the environment.
#include "tests/client/through_proxy.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

bool is_excepted(std::string_view list, std::string_view authority) {
  return http::is_listed(list, http::url("http://" + std::string(authority)));
}

/// Variables of the environment, for as long as this lives.
class environment {
 public:
  explicit environment(std::vector<std::pair<const char*, const char*>> all) : all_(std::move(all)) {
    for (const auto& [name, value] : all_) ::setenv(name, value, 1);
  }
  environment& operator=(environment&&) = delete;
  ~environment() {
    for (const auto& [name, value] : all_) ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, const char*>> all_;
};

}  // namespace

TEST(proxy_options, hosts_in_a_list_are_excepted_by_name_domain_port_address_or_network) {
  using pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  for (const auto& [list, url] : pairs{{"*", "a"},
                                       {"b, Example.ORG", "example.org"},
                                       {"example.org", "a.example.org"},
                                       {".example.org", "a.example.org"},
                                       {"*.example.org", "a.example.org"},
                                       {"a.example.org", "A.EXAMPLE.org"},
                                       {"A.EXAMPLE.ORG:80", "a.example.org"},
                                       {"a:8080", "a:8080"},
                                       {"10.0.0.0/8", "10.200.3.4"},
                                       {"10.1.2.3/32", "10.1.2.3"},
                                       {"10.1.2.3/31", "10.1.2.2"},
                                       {"0.0.0.0/0", "10.1.2.3"},
                                       {"fd00::/8", "[fd12::1]"},
                                       {"::1,127.0.0.1", "[::1]"},
                                       {"127.0.0.1", "127.0.0.1:99"}})
    EXPECT_TRUE(is_excepted(list, url)) << list << ' ' << url;
  for (const auto& [list, url] : pairs{{"example.org", "badexample.org"},
                                       {"a.example.org", "example.org"},
                                       {"a:8080", "a"},
                                       {"10.0.0.0/8", "11.0.0.1"},
                                       {"10.0.0.0/33", "10.0.0.1"},
                                       {"10.1.2.3/32", "10.1.2.2"},
                                       {"10.0.0.0/", "10.0.0.0"},
                                       {"10.0.0.0/-1", "10.0.0.0"},
                                       {"0.0.0.0/0", "[::1]"},
                                       {"0.0.0.0/0", "a.test"},  // a name is not looked up for this
                                       {"fd00::/8", "[fe80::1]"},
                                       {"0.0.1", "127.0.0.1"},
                                       {"", "a"}})
    EXPECT_FALSE(is_excepted(list, url)) << list << ' ' << url;
}

TEST(proxy_options, exceptions_have_the_forms_that_other_programs_read) {
  for (const char* const list :
       {"a.b 127.0.0.1", "a.b,127.0.0.1", "a.b , 127.0.0.1", "a.b\t127.0.0.1", " ,127.0.0.1, "})
    EXPECT_TRUE(is_excepted(list, "127.0.0.1")) << list;
  for (const char* const list : {"localhost.", "localhost", "localhost.:80", "localhost:80"})
    for (const char* const url : {"localhost", "localhost."}) EXPECT_TRUE(is_excepted(list, url)) << list << url;
  EXPECT_TRUE(is_excepted("example.org.", "a.example.org"));
  EXPECT_TRUE(is_excepted(".example.org", "a.example.org."));
  EXPECT_TRUE(is_excepted("[::1]", "[::1]"));
  EXPECT_TRUE(is_excepted("[::1]:80", "[::1]"));
  EXPECT_TRUE(is_excepted("127.0.0.1:8080", "127.0.0.1:8080"));
  EXPECT_FALSE(is_excepted("[::1]:80", "[::1]:81"));
  EXPECT_FALSE(is_excepted("127.0.0.1:8080", "127.0.0.1"));
  for (const char* const list : {".", "..", " ", ",", "[", "[]", "[:", ":", ":80", "*.", "a*"}) {
    EXPECT_FALSE(is_excepted(list, "a")) << list;
    EXPECT_FALSE(is_excepted(list, "[::1]")) << list;
  }
}

TEST(proxy_options, the_environment_names_proxies) {
  {
    const environment set(
        {{"http_proxy", "proxy.test:3128"}, {"HTTPS_PROXY", "socks5h://u:p@socks.test"}, {"no_proxy", "near.test"}});
    const auto found = http::proxy_options::from_environment();
    EXPECT_EQ(found.find(http::url("http://far.test/"))->string(), "http://proxy.test:3128/");
    EXPECT_EQ(found.find(http::url("https://far.test/"))->host(), "socks.test");
    EXPECT_EQ(found.find(http::url("https://near.test/")), nullptr);
  }
  EXPECT_EQ(http::proxy_options::from_environment().find(http::url("http://far.test/")), nullptr);
}

TEST(proxy_options, the_environment_may_use_capitals_except_for_a_variable_that_a_cgi_client_can_set) {
  const environment set({{"HTTP_PROXY", "evil.test"}, {"ALL_PROXY", "all.test"}, {"NO_PROXY", "Near.test,10.0.0.0/8"}});
  const auto found = http::proxy_options::from_environment();
  EXPECT_EQ(found.find(http::url("http://far.test/"))->host(), "all.test");
  EXPECT_EQ(found.find(http::url("https://far.test/"))->host(), "all.test");
  EXPECT_EQ(found.find(http::url("https://www.near.test/")), nullptr);
  EXPECT_EQ(found.find(http::url("http://10.1.2.3/")), nullptr);
}

TEST(proxy_options, text_without_a_scheme_means_http) {
  EXPECT_EQ(http::proxy_options::parse("proxy.test:3128")->string(), "http://proxy.test:3128/");
  EXPECT_EQ(http::proxy_options::parse("socks5h://proxy.test")->scheme(), "socks5h");
  EXPECT_EQ(http::proxy_options::parse("https://proxy.test").error(),
            "proxy \"https://proxy.test\": expected http://, socks5:// or socks5h://");
  EXPECT_FALSE(http::proxy_options::parse(""));
  EXPECT_FALSE(http::proxy_options::parse("a b"));
}

TEST(proxy_options, a_variable_that_names_no_proxy_is_an_error_of_the_requests_that_would_use_it) {
  const environment set({{"https_proxy", "https://ann:secret@proxy.test"}, {"no_proxy", "near.test"}});
  const auto found = http::proxy_options::from_environment();
  EXPECT_EQ(found.find(http::url("http://a.test/")), nullptr);
  EXPECT_EQ(found.find(http::url("https://near.test/")), nullptr);
  const std::string sentence =
      "https_proxy in the environment: proxy \"https://proxy.test\": expected http://, socks5:// or socks5h://";
  run_real([&]() -> gyre::task<> {
    http::client client({.proxies = found});
    EXPECT_EQ(co_await error_of(client.get("https://a.test/")), sentence);
  });
}

TEST(proxy_options, a_proxy_with_tls_is_refused_when_the_client_is_made) {
  EXPECT_THROW(http::client(through("https://proxy.test/")), std::invalid_argument);
}
