// tests/http/static_ranges_test.cpp: parts, versions and codings of a file that a client asks for.
#include <gyre/http/http_date.hpp>

#include "tests/http/served_tree.hpp"

using namespace gyre_test;

namespace {

class static_ranges : public served_tree {
 protected:
  void SetUp() override {
    served_tree::SetUp();
    put("a.txt", "0123456789");
  }
  /// Writes a file whose tag is strong: its change is outside the tick of another one.
  void put(const std::string& path, const std::string& text) const {
    write(path, text);
    date_back(path);
  }
  [[nodiscard]] std::string tag() const { return std::string(get("/a.txt").field("ETag")); }
};

}  // namespace

TEST_F(static_ranges, a_client_that_has_the_file_gets_304) {
  const auto first = get("/a.txt");
  const auto by_tag = get("/a.txt", {{"If-None-Match", tag()}});
  EXPECT_EQ(by_tag.status, 304);
  EXPECT_EQ(by_tag.body, "");
  EXPECT_EQ(by_tag.field("ETag"), first.field("ETag"));
  EXPECT_EQ(get("/a.txt", {{"If-Modified-Since", std::string(first.field("Last-Modified"))}}).status, 304);
  EXPECT_EQ(get("/a.txt", {{"If-None-Match", "\"other\""}}).status, 200);
  EXPECT_EQ(get("/a.txt", {{"If-Match", "\"other\""}}).status, 412);
}

TEST_F(static_ranges, a_changed_file_has_another_tag) {
  const std::string before = tag();
  put("a.txt", "22");
  EXPECT_NE(tag(), before);
}

TEST_F(static_ranges, one_range_is_sent_as_it_is) {
  const auto answer = get("/a.txt", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.body, "234");
  EXPECT_EQ(answer.field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=-3"}}).body, "789");
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=8-"}}).body, "89");
}

TEST_F(static_ranges, several_ranges_are_sent_as_parts) {
  const auto answer = get("/a.txt", {{"Range", "bytes=0-1,5-6"}});
  EXPECT_EQ(answer.status, 206);
  const std::string type(answer.field("Content-Type"));
  ASSERT_TRUE(type.starts_with("multipart/byteranges; boundary="));
  const std::string boundary = type.substr(type.find('=') + 1);
  const std::string part = "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes ";
  EXPECT_EQ(answer.body, "--" + boundary + part + "0-1/10\r\n\r\n01\r\n--" + boundary + part +
                             "5-6/10\r\n\r\n56\r\n--" + boundary + "--\r\n");
  EXPECT_EQ(answer.field("Content-Length"), std::to_string(answer.body.size()));
}

TEST_F(static_ranges, a_range_beyond_the_end_is_416) {
  const auto answer = get("/a.txt", {{"Range", "bytes=10-"}});
  EXPECT_EQ(answer.status, 416);
  EXPECT_EQ(answer.field("Content-Range"), "bytes */10");
}

TEST_F(static_ranges, a_range_of_another_version_is_the_whole) {
  for (const auto& [version, status] : {std::pair<std::string, int>{"\"old\"", 200}, {"", 200}, {tag(), 206}})
    EXPECT_EQ(get("/a.txt", {{"Range", "bytes=0-0"}, {"If-Range", version}}).status, status) << version;
}

TEST_F(static_ranges, a_compressed_neighbour_is_sent_to_clients_that_accept_it) {
  put("a.js", "plain");
  put("a.js.br", "BR");
  put("a.js.gz", "GZ");
  const auto br = get("/a.js", {{"Accept-Encoding", "gzip, br"}});
  EXPECT_EQ(br.body, "BR");
  EXPECT_EQ(br.field("Content-Encoding"), "br");
  EXPECT_EQ(br.field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(br.field("Vary"), "Accept-Encoding");
  for (const auto& [accepted, body] : {std::pair{"gzip", "GZ"}, {"zstd", "plain"}, {"br;q=0, gzip;q=0", "plain"}})
    EXPECT_EQ(get("/a.js", {{"Accept-Encoding", accepted}}).body, body) << accepted;
  EXPECT_EQ(get("/a.js").body, "plain");
  EXPECT_EQ(get("/a.js").field("Vary"), "Accept-Encoding");
  options_.precompressed = false;
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", "br"}}).body, "plain");
}

TEST_F(static_ranges, a_compressed_neighbour_that_is_a_directory_is_none) {
  put("page.html", "<p>plain</p>");
  std::filesystem::create_directories(root_ / "page.html.gz");
  options_.precompressed = true;
  const auto answer = get("/page.html", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "<p>plain</p>");
}

TEST_F(static_ranges, several_ranges_of_a_compressed_neighbour_are_its_whole) {
  put("a.js", "plain text");
  put("a.js.gz", "0123456789");
  const auto several = get("/a.js", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=0-1,5-6"}});
  EXPECT_EQ(several.status, 200);
  EXPECT_EQ(several.field("Content-Encoding"), "gzip");
  EXPECT_EQ(several.field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(several.body, "0123456789");
  const auto one = get("/a.js", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=5-6"}});
  EXPECT_EQ(one.status, 206);
  EXPECT_EQ(one.field("Content-Encoding"), "gzip");
  EXPECT_EQ(one.body, "56");
  EXPECT_EQ(get("/a.js", {{"Range", "bytes=0-1,5-6"}}).status, 206);
}

TEST_F(static_ranges, a_file_of_the_future_is_said_to_be_as_old_as_the_response) {
  const std::string before = tag();
  date_back("a.txt", -std::chrono::hours(1000));
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(routes());
    for (int i = 0; i < 2; ++i) {  // first it is opened, then it is open
      auto asking = app.get("/a.txt");
      const http_answer answer = co_await std::move(asking);
      const auto now = http::parse_date(answer.field("Date"), 0);
      const auto modified = http::parse_date(answer.field("Last-Modified"), 0);
      CO_ASSERT_TRUE(now && modified);
      EXPECT_LE(*modified, *now);
      EXPECT_GT(*modified, *now - 60);
      EXPECT_NE(answer.field("ETag"), before);
      auto by_date =
          app.request("GET", "/a.txt", {{"If-Modified-Since", std::string(answer.field("Last-Modified"))}}, "");
      const http_answer modified_since = co_await std::move(by_date);
      EXPECT_EQ(modified_since.status, 200) << "that date says nothing about the file";
      auto by_tag = app.request("GET", "/a.txt", {{"If-None-Match", std::string(answer.field("ETag"))}}, "");
      const http_answer none_match = co_await std::move(by_tag);
      EXPECT_EQ(none_match.status, 304);
    }
  });
}
