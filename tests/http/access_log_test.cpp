// tests/http/access_log_test.cpp: access log lines say what happened and cannot be forged.
#include "tests/http/access_log_lines.hpp"
#include "tests/http/owned_fields.hpp"

#include <regex>

using namespace gyre_test;
using gyre::task;

namespace {

/// The lines about the requests that `talk(app)` makes.
std::vector<std::string> logged(const http::access_log_options& options, body_ref<http_test_client&> talk) {
  std::vector<std::string> lines;
  run_virtual([&]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get(), options);
    http_test_client app(logging_options(log));
    co_await talk(app);
    co_await gyre::sleep(1ms);
    lines = lines_of(drain(ends.reader.get()));
  });
  return lines;
}

/// Asks for a path with each of these values of User-Agent.
task<> ask_as(http_test_client& app, std::string path, std::vector<std::string> agents) {
  for (const std::string& agent : agents) {
    owned_fields fields = {{"User-Agent", agent}};
    (void)co_await app.request("GET", path, std::move(fields), "");
  }
}

/// The value of a member of a JSON object.
std::string member(const std::string& line, const std::string& name) {
  std::smatch found;
  const std::regex wanted("\"" + name + "\":(\"(?:[^\"\\\\]|\\\\.)*\"|[^,}]*)");
  return std::regex_search(line, found, wanted) ? found[1].str() : "";
}

}  // namespace

TEST(access_log, a_request_is_a_line) {
  const auto lines = logged({}, [](http_test_client& app) -> task<> {
    owned_fields fields = {{"Referer", "http://a/"}, {"User-Agent", "test/1 (a; b)"}};
    (void)co_await app.request("GET", "/?a=b", std::move(fields), "");
    (void)co_await app.get("/x");
    owned_fields user = {{"Authorization", "Basic YW5uOng="}};
    (void)co_await app.request("GET", "/known", std::move(user), "");
  });
  EXPECT_EQ(lines.size(), 3u);
  std::smatch found;
  for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, std::regex(combined_line))) << line;
  EXPECT_NE(lines[0].find("\"GET /?a=b HTTP/1.1\" 200 5 \"http://a/\" \"test/1 (a; b)\" "), std::string::npos);
  EXPECT_NE(lines[1].find("\"GET /x HTTP/1.1\" 200 5 \"-\" \"-\" "), std::string::npos);
  EXPECT_NE(lines[2].find("- - ann ["), std::string::npos);
  EXPECT_NE(lines[2].find("204 0"), std::string::npos);
}

TEST(access_log, passwords_of_urls_are_not_logged) {
  for (const http::log_format format : {http::log_format::combined, http::log_format::json}) {
    const auto lines = logged({.format = format}, [](http_test_client& app) -> task<> {
      for (const char* const url :
           {"http://ann:secret@a.test/x?y=p@q", "https://ann:sec@ret@a.test", "http://a.test/@p"}) {
        owned_fields fields = {{"Referer", url}};
        (void)co_await app.request("GET", "/http://ann:secret@b.test/", std::move(fields), "");
      }
      (void)co_await app.exchange_bytes("GET http://ann:secret@a.test/z HTTP/1.1\r\nHost: a.test\r\n\r\n");
    });
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_NE(lines[0].find("\"http://a.test/x?y=p@q\""), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("/http://ann:secret@b.test/"), std::string::npos) << "a path is no URL";
    EXPECT_NE(lines[1].find("\"https://a.test\""), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find("\"http://a.test/@p\""), std::string::npos) << lines[2];
    EXPECT_EQ(lines[3].find("secret"), std::string::npos) << lines[3];
  }
}

TEST(access_log, a_client_can_forge_no_line) {
  const auto lines = logged({}, [](http_test_client& app) -> task<> {
    owned_fields fields = {{"User-Agent", "a\" 200 5 \"b\\\" \xff\t\xc3\xa9"}};
    (void)co_await app.request("GET", "/\"\\x", std::move(fields), "");
    owned_fields user = {{"Authorization", "Basic YSBiIl06eA=="}};  // a b"]
    (void)co_await app.request("GET", "/known", std::move(user), "");
    (void)co_await app.exchange_bytes("GET / HTTP/1.1\r\nHost: a\r\nbad\x01: \r\n\r\n");
    (void)co_await app.exchange_bytes("\x16\x03\x01 / \"\r\n\r\n");
  });
  EXPECT_EQ(lines.size(), 4u);
  for (const std::string& line : lines) {
    EXPECT_TRUE(std::regex_match(line, std::regex(combined_line))) << line;
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
  }
  EXPECT_NE(lines[0].find(R"("GET /\"\\x HTTP/1.1")"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(R"("a\" 200 5 \"b\\\" \xff\x09\xc3\xa9")"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(R"(- - a\x20b\"] [)"), std::string::npos) << lines[1];
}

TEST(access_log, json_stays_json_whatever_comes) {
  const auto lines = logged({.format = http::log_format::json}, [](http_test_client& app) -> task<> {
    const std::vector<std::string> agents = {
        "plain",        "a\"b\\c",         "\xff\xfe",         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
        "\xed\xa0\x80", "\xc0\xaf",        "\xf5\x80\x80\x80", "\xe2\x82",
        "a\tb",         "\xf0\x8f\xbf\xbf"};
    co_await ask_as(app, "/\"{}", agents);
    owned_fields known = {{"Authorization", "Basic YW5uOng="}, {"X-Request-Id", "trace7"}};
    (void)co_await app.request("GET", "/known", std::move(known), "");
    (void)co_await app.exchange_bytes("\x16\x03\x01 / \"\r\n\r\n");
  });
  EXPECT_EQ(lines.size(), 12u);
  for (const std::string& line : lines) EXPECT_TRUE(is_json_object(line)) << line;
  EXPECT_EQ(member(lines[0], "user_agent"), "\"plain\"");
  EXPECT_EQ(member(lines[0], "target"), R"("/\"{}")");
  EXPECT_EQ(member(lines[0], "route"), R"("/{path...}")");
  EXPECT_EQ(member(lines[0], "status"), "200");
  EXPECT_EQ(member(lines[0], "complete"), "true");
  EXPECT_EQ(member(lines[1], "user_agent"), R"("a\"b\\c")");
  EXPECT_EQ(member(lines[2], "user_agent"), R"("\ufffd\ufffd")");
  EXPECT_EQ(member(lines[3], "user_agent"), "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  EXPECT_EQ(member(lines[4], "user_agent"), R"("\ufffd\ufffd\ufffd")") << "a surrogate";
  EXPECT_EQ(member(lines[5], "user_agent"), R"("\ufffd\ufffd")") << "too long for what it means";
  EXPECT_EQ(member(lines[7], "user_agent"), R"("\ufffd\ufffd")") << "cut off";
  EXPECT_EQ(member(lines[8], "user_agent"), R"("a\u0009b")");
  EXPECT_EQ(member(lines[10], "user"), "\"ann\"");
  EXPECT_EQ(member(lines[10], "request_id"), "\"trace7\"");
  EXPECT_EQ(member(lines[11], "status"), "400");
}

TEST(access_log, json_shows_no_character_that_acts_on_a_terminal) {
  const auto lines = logged({.format = http::log_format::json}, [](http_test_client& app) -> task<> {
    const std::vector<std::string> agents = {"a\u009b31mb", "a\u202egpj.exe\u2069", "a\u2028b", "a\u0085b",
                                             "\u00a0\u200d"};
    co_await ask_as(app, "/", agents);
  });
  EXPECT_EQ(lines.size(), 5u);
  for (const std::string& line : lines) EXPECT_TRUE(is_json_object(line)) << line;
  EXPECT_EQ(member(lines[0], "user_agent"), R"("a\u009b31mb")");
  EXPECT_EQ(member(lines[1], "user_agent"), R"("a\u202egpj.exe\u2069")");
  EXPECT_EQ(member(lines[2], "user_agent"), R"("a\u2028b")");
  EXPECT_EQ(member(lines[3], "user_agent"), R"("a\u0085b")");
  EXPECT_EQ(member(lines[4], "user_agent"), "\"\u00a0\u200d\"");
}

TEST(access_log, long_values_are_cut) {
  const auto lines = logged({.max_value_size = 10}, [](http_test_client& app) -> task<> {
    (void)co_await app.get("/" + std::string(5000, 'a'));
  });
  EXPECT_NE(lines.at(0).find("\"GET /aaaaaaaaa... HTTP/1.1\""), std::string::npos);
}
