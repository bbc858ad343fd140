// tests/http/access_log_test.cpp: access log lines say what happened and cannot be forged.
#include <gyre/http/access_log.hpp>

#include <gyre/http/authentication.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/http/router.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <regex>

namespace http = gyre::http;
using gyre::task;
using gyre_test::http_test_client;
using gyre_test::owned_fields;
using gyre_test::run_virtual;
using namespace std::chrono_literals;

namespace {

const std::string combined_line =
    R"re((\S+) - (\S+) \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+) )re"
    R"re("((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)" \d+\.\d{6})re";

std::string drain(int fd) {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t n = 0; (n = ::read(fd, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(n));
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  EXPECT_EQ(begin, text.size()) << "the last line has an end";
  return lines;
}

http::server_options logging_options(http::access_log& log) {
  http::router routes;
  const auto any_user = [](std::string_view, std::string_view) { return true; };
  routes.get("/", [](http::request&) { return http::response::text("hello"); });
  routes.get("/{path...}", [](http::request&) { return http::response::text("there"); });
  auto known = routes.at("/known");
  known.use(http::basic_authentication("all", any_user));
  known.use(http::request_id({.trust_client = true}));
  known.get("", [](http::request&) { return http::response::no_content(); });
  http::server_options options;
  options.listen.clear();
  options.routes = std::move(routes);
  options.observer = &log;
  return options;
}

// True when the line is one JSON object whose members are strings, numbers and booleans; `member` returns one of them.
bool is_json_object(const std::string& line) {
  static const std::regex object(
      R"re(\{("[a-z_]+":("(?:[^"\\\x00-\x1f]|\\["\\]|\\u[0-9a-f]{4})*"|\d+(\.\d+)?|true|false)(,(?!\})|(?=\})))+\})re");
  return std::regex_match(line, object);
}
std::string member(const std::string& line, const std::string& name) {
  std::smatch found;
  const std::regex wanted("\"" + name + "\":(\"(?:[^\"\\\\]|\\\\.)*\"|[^,}]*)");
  return std::regex_search(line, found, wanted) ? found[1].str() : "";
}

}  // namespace

TEST(access_log, a_request_is_a_line) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get());
    http_test_client app(logging_options(log));
    owned_fields fields = {{"Referer", "http://a/"}, {"User-Agent", "test/1 (a; b)"}};
    (void)co_await app.request("GET", "/?a=b", std::move(fields), "");
    (void)co_await app.get("/x");
    owned_fields user = {{"Authorization", "Basic YW5uOng="}};
    (void)co_await app.request("GET", "/known", std::move(user), "");
    co_await gyre::sleep(1ms);
    const auto lines = lines_of(drain(ends.reader.get()));
    EXPECT_EQ(lines.size(), 3u);
    std::smatch found;
    for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, std::regex(combined_line))) << line;
    EXPECT_NE(lines[0].find("\"GET /?a=b HTTP/1.1\" 200 5 \"http://a/\" \"test/1 (a; b)\" "), std::string::npos);
    EXPECT_NE(lines[1].find("\"GET /x HTTP/1.1\" 200 5 \"-\" \"-\" "), std::string::npos);
    EXPECT_NE(lines[2].find("- - ann ["), std::string::npos);
    EXPECT_NE(lines[2].find("204 0"), std::string::npos);
  });
}

TEST(access_log, passwords_of_urls_are_not_logged) {
  for (const http::log_format format : {http::log_format::combined, http::log_format::json})
    run_virtual([format]() -> task<> {
      auto ends = gyre::open_pipe();
      http::access_log log(ends.writer.get(), {.format = format});
      http_test_client app(logging_options(log));
      for (const char* const url :
           {"http://ann:secret@a.test/x?y=p@q", "https://ann:sec@ret@a.test", "http://a.test/@p"}) {
        owned_fields fields = {{"Referer", url}};
        (void)co_await app.request("GET", "/http://ann:secret@b.test/", std::move(fields), "");
      }
      (void)co_await app.exchange_bytes("GET http://ann:secret@a.test/z HTTP/1.1\r\nHost: a.test\r\n\r\n");
      co_await gyre::sleep(1ms);
      const auto lines = lines_of(drain(ends.reader.get()));
      EXPECT_EQ(lines.size(), 4u);
      EXPECT_NE(lines[0].find("\"http://a.test/x?y=p@q\""), std::string::npos) << lines[0];
      EXPECT_NE(lines[0].find("/http://ann:secret@b.test/"), std::string::npos) << "a path is no URL";
      EXPECT_NE(lines[1].find("\"https://a.test\""), std::string::npos) << lines[1];
      EXPECT_NE(lines[2].find("\"http://a.test/@p\""), std::string::npos) << lines[2];
      EXPECT_EQ(lines[3].find("secret"), std::string::npos) << lines[3];
    });
}

TEST(access_log, a_client_can_forge_no_line) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get());
    http_test_client app(logging_options(log));
    owned_fields fields = {{"User-Agent", "a\" 200 5 \"b\\\" \xff\t\xc3\xa9"}};
    (void)co_await app.request("GET", "/\"\\x", std::move(fields), "");
    owned_fields user = {{"Authorization", "Basic YSBiIl06eA=="}};  // a b"]
    (void)co_await app.request("GET", "/known", std::move(user), "");
    (void)co_await app.exchange_bytes("GET / HTTP/1.1\r\nHost: a\r\nbad\x01: \r\n\r\n");
    (void)co_await app.exchange_bytes("\x16\x03\x01 / \"\r\n\r\n");
    co_await gyre::sleep(1ms);
    const auto lines = lines_of(drain(ends.reader.get()));
    EXPECT_EQ(lines.size(), 4u);
    for (const std::string& line : lines) {
      EXPECT_TRUE(std::regex_match(line, std::regex(combined_line))) << line;
      for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    }
    EXPECT_NE(lines[0].find(R"("GET /\"\\x HTTP/1.1")"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find(R"("a\" 200 5 \"b\\\" \xff\x09\xc3\xa9")"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find(R"(- - a\x20b\"] [)"), std::string::npos) << lines[1];
  });
}

TEST(access_log, json_stays_json_whatever_comes) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get(), {.format = http::log_format::json});
    http_test_client app(logging_options(log));
    for (const char* agent : {"plain", "a\"b\\c", "\xff\xfe", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xed\xa0\x80",
                              "\xc0\xaf", "\xf5\x80\x80\x80", "\xe2\x82", "a\tb", "\xf0\x8f\xbf\xbf"}) {
      owned_fields fields = {{"User-Agent", agent}};
      (void)co_await app.request("GET", "/\"{}", std::move(fields), "");
    }
    owned_fields known = {{"Authorization", "Basic YW5uOng="}, {"X-Request-Id", "trace7"}};
    (void)co_await app.request("GET", "/known", std::move(known), "");
    (void)co_await app.exchange_bytes("\x16\x03\x01 / \"\r\n\r\n");
    co_await gyre::sleep(1ms);
    const auto lines = lines_of(drain(ends.reader.get()));
    EXPECT_EQ(lines.size(), 12u);
    for (const std::string& line : lines) EXPECT_TRUE(is_json_object(line)) << line;
    EXPECT_EQ(member(lines[0], "user_agent"), "\"plain\"");
    EXPECT_EQ(member(lines[0], "target"), R"("/\"{}")");
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
  });
}

TEST(access_log, json_shows_no_character_that_acts_on_a_terminal) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get(), {.format = http::log_format::json});
    http_test_client app(logging_options(log));
    for (const char* agent : {"a\u009b31mb", "a\u202egpj.exe\u2069", "a\u2028b", "a\u0085b", "\u00a0\u200d"}) {
      owned_fields fields = {{"User-Agent", agent}};
      (void)co_await app.request("GET", "/", std::move(fields), "");
    }
    co_await gyre::sleep(1ms);
    const auto lines = lines_of(drain(ends.reader.get()));
    EXPECT_EQ(lines.size(), 5u);
    for (const std::string& line : lines) EXPECT_TRUE(is_json_object(line)) << line;
    EXPECT_EQ(member(lines[0], "user_agent"), R"("a\u009b31mb")");
    EXPECT_EQ(member(lines[1], "user_agent"), R"("a\u202egpj.exe\u2069")");
    EXPECT_EQ(member(lines[2], "user_agent"), R"("a\u2028b")");
    EXPECT_EQ(member(lines[3], "user_agent"), R"("a\u0085b")");
    EXPECT_EQ(member(lines[4], "user_agent"), "\"\u00a0\u200d\"");
  });
}

TEST(access_log, long_values_are_cut) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get(), {.max_value_size = 10});
    http_test_client app(logging_options(log));
    (void)co_await app.get("/" + std::string(5000, 'a'));
    co_await gyre::sleep(1ms);
    EXPECT_NE(drain(ends.reader.get()).find("\"GET /aaaaaaaaa... HTTP/1.1\""), std::string::npos);
  });
}

TEST(access_log, lines_that_a_full_pipe_does_not_take_are_lost_and_counted_later) {
  for (const bool json : {false, true}) {
    run_virtual([json]() -> task<> {
      auto ends = gyre::open_pipe();
      ::fcntl(ends.writer.get(), F_SETPIPE_SZ, 4096);
      http::access_log log(ends.writer.get(),
                           {.format = json ? http::log_format::json : http::log_format::combined, .buffer = 2000});
      EXPECT_EQ(::fcntl(ends.writer.get(), F_GETFL) & O_NONBLOCK, 0) << "others use it, too";
      http_test_client app(logging_options(log));
      for (int i = 0; i < 200; ++i) (void)co_await app.get("/" + std::to_string(i));
      co_await gyre::sleep(1s);
      EXPECT_GT(log.lost(), 100u);
      std::string text = drain(ends.reader.get());
      co_await gyre::sleep(1s);
      text += drain(ends.reader.get());
      co_await gyre::sleep(1s);
      text += drain(ends.reader.get());
      (void)co_await app.get("/last");
      co_await gyre::sleep(1s);
      text += drain(ends.reader.get());
      const auto lines = lines_of(text);
      std::uint64_t lost = 0;
      std::uint64_t whole = 0;
      const std::regex notice(R"re((?:gyre: (\d+) lines of this log were lost .*|.*"lost":(\d+)\}))re");
      for (const std::string& line : lines) {
        std::smatch found;
        if (std::regex_match(line, found, notice))
          lost += std::stoull(found[json ? 2 : 1]);
        else
          whole += json ? is_json_object(line) : std::regex_match(line, std::regex(combined_line));
      }
      EXPECT_EQ(lost, log.lost());
      EXPECT_EQ(whole + lost, 201u);
      EXPECT_NE(text.find("/last"), std::string::npos);
    });
  }
}

TEST(access_log, lines_of_several_logs_on_one_pipe_stay_whole_though_it_is_read_slowly) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    ::fcntl(ends.writer.get(), F_SETPIPE_SZ, 4096);
    http::access_log first(ends.writer.get());
    http::access_log second(ends.writer.get());
    http_test_client of_first(logging_options(first));
    http_test_client of_second(logging_options(second));
    for (int i = 0; i < 200; ++i) (void)co_await of_first.get("/first" + std::to_string(i));
    co_await gyre::sleep(25ms);  // virtual time: the two logs do not retry at the same time
    for (int i = 0; i < 200; ++i) (void)co_await of_second.get("/second");
    std::string text;
    std::array<char, 1000> piece;
    ::fcntl(ends.reader.get(), F_SETFL, O_NONBLOCK);
    for (ssize_t n = 0; (n = ::read(ends.reader.get(), piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(n));
      co_await gyre::sleep(35ms);
    }
    const auto lines = lines_of(text);
    EXPECT_EQ(lines.size(), 400u);
    const std::regex whole(combined_line);
    for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, whole)) << line;
  });
}

TEST(access_log, a_pipe_that_nobody_reads_any_more_is_no_end_of_the_program) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get());
    ends.reader.close();
    http_test_client app(logging_options(log));
    for (int i = 0; i < 5; ++i) EXPECT_EQ((co_await app.get("/")).status, 200);
    co_await gyre::sleep(1s);
    EXPECT_EQ(log.lost(), 5u);
  });
}

TEST(access_log, sockets_and_files_are_written_to) {
  run_virtual([]() -> task<> {
    int ends[2] = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::FILE* const file = std::tmpfile();
    {
      http::access_log to_socket(ends[0]);
      http::access_log to_file(::fileno(file));
      http_test_client first(logging_options(to_socket));
      http_test_client second(logging_options(to_file));
      (void)co_await first.get("/socket");
      (void)co_await second.get("/file");
    }  // the rest is written at the end
    EXPECT_NE(drain(ends[1]).find("/socket"), std::string::npos);
    std::array<char, 500> text{};
    EXPECT_GT(::pread(::fileno(file), text.data(), text.size(), 0), 0);
    EXPECT_NE(std::string(text.data()).find("/file"), std::string::npos);
    ::close(ends[0]);
    ::close(ends[1]);
    std::fclose(file);
  });
}

TEST(access_log, requests_of_one_turn_are_one_write) {
  run_virtual([]() -> task<> {
    int ends[2] = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    {
      http::access_log log(ends[0]);
      http_test_client app(logging_options(log));
      std::string many;
      for (int i = 0; i < 20; ++i) many += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
      (void)co_await app.exchange_bytes(many);
      co_await gyre::sleep(1ms);
    }
    std::array<char, 65'536> packet;
    int packets = 0;
    while (::recv(ends[1], packet.data(), packet.size(), MSG_DONTWAIT) > 0) ++packets;
    EXPECT_EQ(packets, 1);
    ::close(ends[0]);
    ::close(ends[1]);
  });
}

TEST(access_log, a_bad_descriptor_is_refused) { EXPECT_THROW(http::access_log(-1), gyre::io_error); }
