// tests/client/injection_test.cpp: no text of the program becomes a line of its own in a request.
#include "tests/client/scripted_server.hpp"

#include <optional>
#include <string>
#include <string_view>

using namespace gyre_test;
using namespace std::string_view_literals;

namespace {

constexpr std::string_view line_ends[] = {"\r\nInjected: 1"sv, "\nInjected: 1"sv, "\rInjected: 1"sv, "\0Injected: 1"sv,
                                          "\r\n\r\nGET /injected HTTP/1.1\r\nA: "sv};

/// Sends a request that `change(request, text)` has changed, with the options of `choose(options, text)`. It must be
/// refused by the program's call, or reach the server without a further line.
template <class Choose, class Change>
void expect_no_injection(std::string_view what, Choose choose, Change change) {
  for (const std::string_view end : line_ends) {
    const std::string text = "a" + std::string(end);
    std::string seen;
    with_server(
        [&](peer& client) -> gyre::task<> {
          co_await gyre::sleep(2ms);  // a second request would be here by now
          seen = co_await client.request();
          co_await client.answer("hello");
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client_options options;
          choose(options, text);
          std::optional<http::client> client;
          try {
            client.emplace(options);
            auto request = client->request("POST", server.url());
            change(request, std::string_view(text));
            auto response = co_await request.send();
            const std::string head = seen.substr(0, seen.find("\r\n\r\n"));
            EXPECT_NE(head, "") << what;
            EXPECT_EQ(head.find("njected: 1"), std::string::npos) << what << " " << head;
            EXPECT_EQ(seen.find("GET /injected"), std::string::npos) << what << " " << seen;
          } catch (const std::invalid_argument&) {
            EXPECT_EQ(seen, "") << what;
          }
          EXPECT_EQ(client ? client->counts().in_use : 0U, 0U) << what;
        });
  }
}

const auto no_option = [](http::client_options&, const std::string&) {};
const auto nothing = [](http::client_request&, std::string_view) {};

}  // namespace

TEST(client_injection, text_of_a_request_stays_in_its_line) {
  using request = http::client_request;
  expect_no_injection("a name", no_option, [](request& to, std::string_view text) { to.header(text, "b"); });
  expect_no_injection("a value", no_option, [](request& to, std::string_view text) { to.header("A", text); });
  expect_no_injection("Host", no_option, [](request& to, std::string_view text) { to.header("Host", text); });
  expect_no_injection("Connection", no_option,
                      [](request& to, std::string_view text) { to.header("Connection", text); });
  expect_no_injection("a token", no_option, [](request& to, std::string_view text) { to.bearer_token(text); });
  expect_no_injection("a user", no_option, [](request& to, std::string_view text) { to.basic_auth(text, "b"); });
  expect_no_injection("a password", no_option, [](request& to, std::string_view text) { to.basic_auth("b", text); });
  expect_no_injection("a media type", no_option, [](request& to, std::string_view text) { to.body("b", text); });
  expect_no_injection("a protocol", no_option, [](request& to, std::string_view text) { to.upgrade(text); });
  expect_no_injection("a query", no_option, [](request& to, std::string_view text) { to.query(text, text); });
  expect_no_injection("a form", no_option, [](request& to, std::string_view text) { to.form({{text, text}}); });
}

TEST(client_injection, text_of_a_form_with_files_stays_in_its_part) {
  std::string seen;
  with_client(keeps_request(seen), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    for (const std::string_view end : line_ends) {
      const std::string text = "a" + std::string(end);
      auto request = client.request("POST", server.url());
      EXPECT_THROW(request.multipart({{.name = "n", .content = "c", .media_type = text}}), std::invalid_argument);
    }
    auto request = client.request("POST", server.url());
    request.multipart({{.name = "n\"\r\nA: b", .content = "c", .file_name = "f\"\r\n\r\nd"}});
    (void)co_await request.send();
    EXPECT_NE(seen.find("name=\"n%22%0D%0AA: b\"; filename=\"f%22%0D%0A%0D%0Ad\"\r\n"), std::string::npos) << seen;
  });
}

TEST(client_injection, text_of_the_options_stays_in_its_line) {
  using options = http::client_options;
  expect_no_injection("the user agent", [](options& of, const std::string& text) { of.user_agent = text; }, nothing);
  expect_no_injection("the accepted types", [](options& of, const std::string& text) { of.accept = text; }, nothing);
}
