// tests/http/static_files_test.cpp: files over HTTP: which are served, which are not, and which ranges of them.
#include <gyre/gyre.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using gyre::testing::http_answer;
using gyre_test::http_test_client;
namespace http = gyre::http;
using gyre_test::owned_fields;

/// Serves a tree of files, and returns the responses to one GET after another.
class static_files_test : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
    // Outside the tick of another change, so that its tag is strong.
    std::filesystem::last_write_time(whole, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  std::vector<http_answer> ask(const std::vector<std::string>& targets, const owned_fields& fields = {},
                               const std::string& method = "GET") {
    std::vector<http_answer> all;
    auto body = [&]() -> gyre::task<> {
      http::router routes;
      routes.get("/{path...}", http::static_files(root_.string(), options_));
      http_test_client app(std::move(routes));
      for (const std::string& each : targets) {
        auto answer = app.request(method, each, fields, "");
        all.push_back(co_await std::move(answer));
      }
    };
    EXPECT_NO_THROW(gyre::testing::run_test(body));
    return all;
  }
  http_answer get(const std::string& target, const owned_fields& fields = {}) {
    auto all = ask({target}, fields);
    return all.empty() ? http_answer{} : std::move(all.front());
  }

  gyre_test::scratch scratch_;
  std::filesystem::path root_ = std::filesystem::path(scratch_.root()) / "root";
  http::static_files_options options_;

  void SetUp() override { std::filesystem::create_directories(root_); }
};

TEST_F(static_files_test, the_well_known_folder_is_served_without_hidden_files) {
  write(".well-known/security.txt", "contact");
  write(".well-known/acme-challenge/token", "key");
  write(".well-known/.secret", "s");
  write(".well-known2/a", "s");
  write("a/.well-known/b", "s");
  EXPECT_EQ(get("/.well-known/security.txt").body, "contact");
  EXPECT_EQ(get("/.well-known/acme-challenge/token").body, "key");
  EXPECT_EQ(get("/.well-known").status, 308);
  for (const char* const each : {"/.well-known/.secret", "/.well-known2/a", "/a/.well-known/b", "/.well-knowna"})
    EXPECT_EQ(get(each).status, 404) << each;
}

TEST_F(static_files_test, a_directory_with_an_index_outside_is_forbidden_and_not_listed) {
  options_.listing = true;
  write("../secret", "s");
  write("a/name", "");
  std::filesystem::create_symlink("../../secret", root_ / "a/index.html");
  const auto answer = get("/a/");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, "Forbidden\n");
}

TEST_F(static_files_test, a_file_is_sent_with_its_type_length_tag_and_date) {
  write("style.css", "body{}");
  const auto answer = get("/style.css");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "body{}");
  EXPECT_EQ(answer.field("Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(answer.field("Content-Length"), "6");
  EXPECT_EQ(answer.field("Accept-Ranges"), "bytes");
  EXPECT_FALSE(answer.field("ETag").empty());
  EXPECT_FALSE(answer.field("Last-Modified").empty());
  EXPECT_EQ(answer.field("X-Content-Type-Options"), "nosniff");
}

TEST_F(static_files_test, a_large_file_arrives_whole) {
  std::string text(3'000'000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 997) text[i] = static_cast<char>(i % 251);
  write("large", text);
  EXPECT_EQ(get("/large").body, text);
}

TEST_F(static_files_test, an_empty_file_is_sent) {
  write("empty", "");
  const auto answer = get("/empty");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Length"), "0");
}

TEST_F(static_files_test, head_gives_the_fields_of_get_and_no_body) {
  write("a.txt", "0123456789");
  const auto answer = ask({"/a.txt"}, {}, "HEAD").front();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Length"), "10");
  EXPECT_EQ(answer.body, "");
}

TEST_F(static_files_test, no_path_leads_out_of_the_root) {
  write("../secret", "s");
  write("a/b", "b");
  for (const char* const each :
       {"/../secret", "/a/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/a/..%2f..%2fsecret", "/....//secret",
        "/%2e%2e%2fsecret", "/a/%2e%2e/%2e%2e/secret", "/a\\..\\..\\secret"})
    EXPECT_EQ(get(each).status, 404) << each;
}

TEST_F(static_files_test, a_link_that_leads_out_of_the_root_is_not_there) {
  write("../secret", "s");
  std::filesystem::create_symlink(root_ / "../secret", root_ / "absolute");
  std::filesystem::create_symlink("../secret", root_ / "relative");
  std::filesystem::create_directory_symlink("..", root_ / "parent");
  EXPECT_EQ(get("/absolute").status, 404);
  EXPECT_EQ(get("/relative").status, 404);
  EXPECT_EQ(get("/parent/secret").status, 404);
}

TEST_F(static_files_test, a_link_that_stays_inside_is_followed) {
  write("real/a.txt", "a");
  std::filesystem::create_symlink("real/a.txt", root_ / "link.txt");
  std::filesystem::create_symlink(root_ / "real/a.txt", root_ / "absolute.txt");
  EXPECT_EQ(get("/link.txt").body, "a");
  EXPECT_EQ(get("/absolute.txt").body, "a");
  options_.listing = true;
  EXPECT_NE(get("/").body.find("absolute.txt"), std::string::npos);
}

TEST_F(static_files_test, a_loop_of_links_is_not_there) {
  std::filesystem::create_symlink("b", root_ / "a");
  std::filesystem::create_symlink("a", root_ / "b");
  EXPECT_EQ(get("/a").status, 404);
}

TEST_F(static_files_test, a_named_pipe_is_not_there_and_nobody_waits_for_it) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(get("/pipe").status, 404);
}

TEST_F(static_files_test, a_name_with_odd_characters_is_found) {
  write("ä & <b>?#%.txt", "odd");
  EXPECT_EQ(get("/%C3%A4%20&%20%3Cb%3E%3F%23%25.txt").body, "odd");
}

TEST_F(static_files_test, a_name_that_is_too_long_is_not_there) {
  EXPECT_EQ(get("/" + std::string(300, 'a')).status, 404);
}

TEST_F(static_files_test, hidden_files_are_served_only_when_wanted) {
  write(".env", "key");
  write(".git/config", "c");
  EXPECT_EQ(get("/.env").status, 404);
  EXPECT_EQ(get("/.git/config").status, 404);
  options_.hidden = true;
  EXPECT_EQ(get("/.env").body, "key");
}

TEST_F(static_files_test, a_directory_is_answered_with_its_index) {
  write("docs/index.html", "<p>docs");
  const auto answer = get("/docs/");
  EXPECT_EQ(answer.body, "<p>docs");
  EXPECT_EQ(answer.field("Content-Type"), "text/html; charset=utf-8");
}

TEST_F(static_files_test, a_directory_without_its_slash_is_a_relative_redirect) {
  write("docs/index.html", "");
  write("a b/c:d/x", "");
  EXPECT_EQ(get("/docs").status, 308);
  EXPECT_EQ(get("/docs").field("Location"), "./docs/");
  EXPECT_EQ(get("/a%20b/c:d").field("Location"), "./c:d/");
  EXPECT_EQ(get("/docs?sort=size").field("Location"), "./docs/?sort=size");
  EXPECT_EQ(get("//docs").field("Location"), "../docs");  // never "//docs/", which names another host
}

TEST_F(static_files_test, a_file_with_a_slash_behind_it_is_not_there) {
  write("a.txt", "a");
  EXPECT_EQ(get("/a.txt/").status, 404);
}

TEST_F(static_files_test, a_directory_without_an_index_is_not_there_unless_it_may_be_listed) {
  write("docs/a.txt", "a");
  EXPECT_EQ(get("/docs/").status, 404);
  options_.listing = true;
  EXPECT_EQ(get("/docs/").status, 200);
}

TEST_F(static_files_test, a_listing_shows_names_as_text_and_links_that_work) {
  options_.listing = true;
  write("<script>alert(1)</script>/a", "");
  write("a\"b'c.txt", "x");
  const auto answer = get("/");
  EXPECT_EQ(answer.body.find("<script>alert"), std::string::npos);
  EXPECT_NE(answer.body.find("&lt;script&gt;alert(1)&lt;"), std::string::npos);
  EXPECT_NE(answer.body.find("href=\"./a%22b&#39;c.txt\""), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(answer.field("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
}

TEST_F(static_files_test, a_listing_is_sorted_as_it_is_asked_for) {
  options_.listing = true;
  write("a", "333");
  write("b", "1");
  write("c", "22");
  const auto order = [this](const std::string& query) {
    const std::string body = get("/" + query).body;
    std::string names;
    for (std::size_t at = 0; (at = body.find("href=\"./", at)) != std::string::npos; ++at) names += body[at + 8];
    return names;
  };
  EXPECT_EQ(order(""), "abc");
  EXPECT_EQ(order("?order=desc"), "cba");
  EXPECT_EQ(order("?sort=size"), "bca");
  EXPECT_EQ(order("?sort=size&order=desc"), "acb");
  EXPECT_EQ(order("?sort=nonsense"), "abc");
}

TEST_F(static_files_test, a_listing_is_sorted_by_time_when_that_is_asked_for) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const char* name : {"b", "a", "c"}) write(std::string(name) + ".txt", name);
  std::filesystem::last_write_time(root_ / "a.txt", now - std::chrono::hours(3));
  std::filesystem::last_write_time(root_ / "b.txt", now - std::chrono::hours(5));
  std::filesystem::last_write_time(root_ / "c.txt", now - std::chrono::hours(4));
  options_.listing = true;
  const auto places = [](const std::string& page) {
    return std::array{page.find("a.txt"), page.find("b.txt"), page.find("c.txt")};
  };
  const auto oldest_first = places(get("/?sort=time").body);
  EXPECT_LT(oldest_first[1], oldest_first[2]);
  EXPECT_LT(oldest_first[2], oldest_first[0]);
  const auto newest_first = places(get("/?sort=time&order=desc").body);
  EXPECT_GT(newest_first[1], newest_first[2]);
  EXPECT_GT(newest_first[2], newest_first[0]);
}

TEST_F(static_files_test, a_listing_shows_sizes_and_days_for_people) {
  write("small.txt", std::string(999, 'x'));
  write("middle.txt", std::string(4'200, 'x'));
  write("large.txt", std::string(25'000, 'x'));
  struct timespec times[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0}, {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  EXPECT_EQ(::utimensat(AT_FDCWD, (root_ / "small.txt").c_str(), times, 0), 0);
  times[0].tv_sec = times[1].tv_sec = 1'260'000'000;
  EXPECT_EQ(::utimensat(AT_FDCWD, (root_ / "large.txt").c_str(), times, 0), 0);
  options_.listing = true;
  const std::string page = get("/").body;
  for (const char* shown : {"999 B", "4.2 kB", "25 kB", "2001-09-09 01:46", "2009-12-05 08:00"})
    EXPECT_NE(page.find(shown), std::string::npos) << shown << page;
}

TEST_F(static_files_test, an_index_that_is_a_directory_is_none) {
  std::filesystem::create_directories(root_ / "index.html");
  EXPECT_EQ(get("/").status, 404);
}

TEST_F(static_files_test, a_compressed_neighbour_that_is_a_directory_is_none) {
  write("page.html", "<p>plain</p>");
  std::filesystem::create_directories(root_ / "page.html.gz");
  options_.precompressed = true;
  const auto answer = get("/page.html", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "<p>plain</p>");
}

TEST_F(static_files_test, a_path_that_goes_on_behind_a_file_is_not_there) {
  write("a.txt", "a");
  EXPECT_EQ(get("/a.txt/b").status, 404);
}

TEST_F(static_files_test, a_socket_is_not_there) {
  const std::string path = root_ / "socket";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(get("/socket").status, 404);
  ::close(fd);
}

TEST_F(static_files_test, a_hidden_folder_hides_what_is_below_it) {
  write("open/.git/config", "secret");
  EXPECT_EQ(get("/open/.git/config").status, 404);
}

TEST_F(static_files_test, a_fallback_that_is_not_there_is_404) {
  options_.fallback = "app.html";
  EXPECT_EQ(get("/missing", {{"Accept", "text/html"}}).status, 404);
}

TEST_F(static_files_test, a_listing_is_json_for_programs) {
  options_.listing = true;
  write("a\"\n\xFF", "12");
  const auto answer = get("/", {{"Accept", "application/json"}});
  EXPECT_EQ(answer.field("Content-Type"), "application/json");
  EXPECT_NE(answer.body.find(R"("name":"a\"\u000a\ufffd","type":"file","size":2)"), std::string::npos) << answer.body;
}

TEST_F(static_files_test, a_listing_leaves_out_what_would_not_be_served) {
  options_.listing = true;
  write("../secret", "s");
  write(".hidden", "");
  std::filesystem::create_symlink("../secret", root_ / "outside");
  std::filesystem::create_symlink("nothing", root_ / "dangling");
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  const auto answer = get("/", {{"Accept", "application/json"}});
  EXPECT_EQ(answer.body, "[\n]\n");
}

TEST_F(static_files_test, a_client_that_has_the_file_gets_304) {
  write("a.txt", "0123456789");
  const auto first = get("/a.txt");
  const auto by_tag = get("/a.txt", {{"If-None-Match", std::string(first.field("ETag"))}});
  EXPECT_EQ(by_tag.status, 304);
  EXPECT_EQ(by_tag.body, "");
  EXPECT_EQ(by_tag.field("ETag"), first.field("ETag"));
  const auto by_date = get("/a.txt", {{"If-Modified-Since", std::string(first.field("Last-Modified"))}});
  EXPECT_EQ(by_date.status, 304);
  EXPECT_EQ(get("/a.txt", {{"If-None-Match", "\"other\""}}).status, 200);
  EXPECT_EQ(get("/a.txt", {{"If-Match", "\"other\""}}).status, 412);
}

TEST_F(static_files_test, a_changed_file_has_another_tag) {
  write("a.txt", "1");
  const std::string before(get("/a.txt").field("ETag"));
  write("a.txt", "22");
  EXPECT_NE(get("/a.txt").field("ETag"), before);
}

TEST_F(static_files_test, one_range_is_sent_as_it_is) {
  write("a.txt", "0123456789");
  const auto answer = get("/a.txt", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.body, "234");
  EXPECT_EQ(answer.field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=-3"}}).body, "789");
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=8-"}}).body, "89");
}

TEST_F(static_files_test, several_ranges_are_sent_as_parts) {
  write("a.txt", "0123456789");
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

TEST_F(static_files_test, a_range_behind_the_end_is_416) {
  write("a.txt", "0123456789");
  const auto answer = get("/a.txt", {{"Range", "bytes=10-"}});
  EXPECT_EQ(answer.status, 416);
  EXPECT_EQ(answer.field("Content-Range"), "bytes */10");
}

TEST_F(static_files_test, a_range_of_another_version_is_the_whole) {
  write("a.txt", "0123456789");
  const std::string tag(get("/a.txt").field("ETag"));
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=0-0"}, {"If-Range", "\"old\""}}).status, 200);
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=0-0"}, {"If-Range", ""}}).status, 200);
  EXPECT_EQ(get("/a.txt", {{"Range", "bytes=0-0"}, {"If-Range", tag}}).status, 206);
}

TEST_F(static_files_test, a_compressed_neighbour_is_sent_to_who_takes_it) {
  write("a.js", "plain");
  write("a.js.br", "BR");
  write("a.js.gz", "GZ");
  const auto br = get("/a.js", {{"Accept-Encoding", "gzip, br"}});
  EXPECT_EQ(br.body, "BR");
  EXPECT_EQ(br.field("Content-Encoding"), "br");
  EXPECT_EQ(br.field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(br.field("Vary"), "Accept-Encoding");
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", "gzip"}}).body, "GZ");
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", "zstd"}}).body, "plain");
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", "br;q=0, gzip;q=0"}}).body, "plain");
  EXPECT_EQ(get("/a.js").body, "plain");
  EXPECT_EQ(get("/a.js").field("Vary"), "Accept-Encoding");
  options_.precompressed = false;
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", "br"}}).body, "plain");
}

TEST_F(static_files_test, several_ranges_of_a_compressed_neighbour_are_its_whole) {
  write("a.js", "plain text");
  write("a.js.gz", "0123456789");
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

TEST_F(static_files_test, a_file_of_the_future_is_said_to_be_as_old_as_the_response) {
  write("a.txt", "a");
  const auto future = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1000);
  const std::string before(get("/a.txt").field("ETag"));
  std::filesystem::last_write_time(root_ / "a.txt", future);
  for (const auto& answer : ask({"/a.txt", "/a.txt"})) {  // first it is opened, then it is open
    const auto now = http::parse_date(answer.field("Date"), 0);
    const auto modified = http::parse_date(answer.field("Last-Modified"), 0);
    ASSERT_TRUE(now && modified);
    EXPECT_LE(*modified, *now);
    EXPECT_GT(*modified, *now - 60);
    EXPECT_NE(answer.field("ETag"), before);
    const std::string date(answer.field("Last-Modified"));
    EXPECT_EQ(get("/a.txt", {{"If-Modified-Since", date}}).status, 200) << "that date says nothing about the file";
    EXPECT_EQ(get("/a.txt", {{"If-None-Match", std::string(answer.field("ETag"))}}).status, 304);
  }
}

TEST_F(static_files_test, where_there_is_a_fallback_a_missing_page_varies_with_what_is_asked_for) {
  write("index.html", "app");
  options_.fallback = "index.html";
  const auto varies = [](const http_answer& answer) {
    std::string all;
    for (const auto& [name, value] : answer.fields)
      if (name == "Vary") all += (all.empty() ? "" : ", ") + value;
    return all;
  };
  const auto page = get("/users/7", {{"Accept", "text/html"}});
  EXPECT_EQ(page.body, "app");
  EXPECT_EQ(varies(page), "Accept-Encoding, Accept");
  const auto known = get("/users/7", {{"Accept", "text/html"}, {"If-None-Match", std::string(page.field("ETag"))}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(varies(known), "Accept-Encoding, Accept");
  const auto missing = get("/users/7", {{"Accept", "*/*"}});
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "Not Found\n");
  EXPECT_EQ(varies(missing), "Accept");
  EXPECT_EQ(varies(get("/index.html")), "Accept-Encoding");
  options_.fallback.clear();
  EXPECT_EQ(varies(get("/users/7")), "");
}

TEST_F(static_files_test, a_page_that_is_not_there_is_the_fallback_for_browsers_only) {
  write("index.html", "app");
  options_.fallback = "index.html";
  EXPECT_EQ(get("/users/7", {{"Accept", "text/html,*/*;q=0.8"}}).body, "app");
  // Accept values of browsers for scripts, styles and images, and of other programs.
  for (const char* const accept : {"*/*", "text/css,*/*;q=0.1", "image/avif,image/webp,image/*,*/*;q=0.8"})
    EXPECT_EQ(get("/missing.js", {{"Accept", accept}}).status, 404) << accept;
  EXPECT_EQ(get("/missing.js").status, 404);
}

TEST_F(static_files_test, a_root_that_is_no_directory_is_refused) {
  write("file", "");
  EXPECT_THROW(http::static_files((root_ / "file").string()), gyre::io_error);
  EXPECT_THROW(http::static_files((root_ / "nothing").string()), gyre::io_error);
}

TEST_F(static_files_test, a_tree_below_a_prefix_finds_its_own_paths) {
  write("a/b.txt", "b");
  auto body = [this]() -> gyre::task<> {
    http::router routes;
    routes.get("/assets/{rest...}", http::static_files(root_.string()));
    http_test_client app(std::move(routes));
    const auto found = co_await app.get("/assets/a/b.txt");
    EXPECT_EQ(found.body, "b");
    const auto missing = co_await app.get("/a/b.txt");
    EXPECT_EQ(missing.status, 404);
  };
  EXPECT_NO_THROW(gyre::testing::run_test(body));
}

}  // namespace
