// tests/proxy/forwarded_fields_test.cpp: which fields pass a proxy.
#include "programs/gyre/proxy/forwarded_fields.hpp"

#include <gyre/client/client.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using namespace programs;

namespace {

using owned_fields = std::vector<std::pair<std::string, std::string>>;

/// Calls `use(request, to)` for a request with these fields, where `to` is the request to the server.
template <class F>
void with_request(owned_fields fields, F use) {
  gyre::testing::run_test([&]() -> gyre::task<> {
    gyre::testing::http_test_client app(http::handler([&use](http::request& request) {
      http::client client;
      auto to = client.request("GET", "http://server/");
      use(request, to);
      return http::response::no_content();
    }));
    auto asking = app.request("GET", "/", std::move(fields), "");
    const auto answer = co_await std::move(asking);
    EXPECT_EQ(answer.status, 204);
  });
}

}  // namespace

TEST(forwarded_fields, those_that_connection_names_do_not_pass) {
  with_request({{"Connection", "a, close"}, {"A", "1"}, {"B", "2"}, {"connection", "C"}, {"c", "3"}, {"Close", "4"}},
               [](http::request& request, http::client_request& to) {
                 const hop_by_hop_fields dropped(request.fields());
                 forwarded_texts texts;
                 forward_fields(request, dropped, {.host = "10.0.0.1"}, to, texts);
                 EXPECT_FALSE(to.has_header("A"));
                 EXPECT_TRUE(to.has_header("B"));
                 EXPECT_FALSE(to.has_header("C"));
                 EXPECT_TRUE(to.has_header("X-Forwarded-For"));
               });
}

TEST(forwarded_fields, names_by_which_gateways_take_a_field_for_one_about_the_client_are_known) {
  for (const char* const name : {"X-Forwarded", "x_forwarded_for", "X-Original-Forwarded-For", "Client-IP", "CLIENT_IP",
                                 "X.Real.IP", "X-Forward-For", "X-Azure-ClientIP", "Front-End-Https"})
    EXPECT_TRUE(is_about_client(name)) << name;
  for (const char* const name : {"X-Client", "Client-IPs", "X-Forward", "X-Real-IP-Count", "Host", "IP", "X-Hosts", ""})
    EXPECT_FALSE(is_about_client(name)) << name;
}
