// tests/http/static_files_test.cpp: which files of a directory are served, and which are not.
#include "tests/http/served_tree.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace gyre_test;

namespace {

class static_files_test : public served_tree {
 protected:
  void expect_missing(const std::vector<std::string>& targets) const {
    for (const std::string& each : targets) EXPECT_EQ(get(each).status, 404) << each;
  }
};

/// The values of all Vary fields.
std::string varies(const http_answer& answer) {
  std::string all;
  for (const auto& [name, value] : answer.fields)
    if (name == "Vary") all += (all.empty() ? "" : ", ") + value;
  return all;
}

}  // namespace

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

TEST_F(static_files_test, files_of_every_size_arrive_whole) {
  std::string text(3'000'000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 997) text[i] = static_cast<char>(i % 251);
  write("large", text);
  write("empty");
  EXPECT_EQ(get("/large").body, text);
  EXPECT_EQ(get("/empty").status, 200);
  EXPECT_EQ(get("/empty").field("Content-Length"), "0");
}

TEST_F(static_files_test, head_gives_the_fields_of_get_and_no_body) {
  write("a.txt", "0123456789");
  const auto answer = get("/a.txt", {}, "HEAD");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Length"), "10");
  EXPECT_EQ(answer.body, "");
}

TEST_F(static_files_test, no_path_leads_out_of_the_root) {
  write("../secret", "s");
  write("a/b", "b");
  expect_missing({"/../secret", "/a/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/a/..%2f..%2fsecret",
                  "/....//secret", "/%2e%2e%2fsecret", "/a/%2e%2e/%2e%2e/secret", "/a\\..\\..\\secret"});
}

TEST_F(static_files_test, a_link_that_leads_out_of_the_root_is_not_there) {
  write("../secret", "s");
  link("absolute", root_ / "../secret");
  link("relative", "../secret");
  link("parent", "..");
  expect_missing({"/absolute", "/relative", "/parent/secret"});
}

TEST_F(static_files_test, a_link_that_stays_inside_is_followed) {
  write("real/a.txt", "a");
  link("link.txt", "real/a.txt");
  link("absolute.txt", root_ / "real/a.txt");
  EXPECT_EQ(get("/link.txt").body, "a");
  EXPECT_EQ(get("/absolute.txt").body, "a");
  options_.listing = true;
  EXPECT_NE(get("/").body.find("absolute.txt"), std::string::npos);
}

TEST_F(static_files_test, a_path_that_leads_to_no_file_is_not_there_and_nobody_waits_for_it) {
  link("a", "b");  // a loop of links
  link("b", "a");
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  write("a.txt", "a");
  std::filesystem::create_directories(root_ / "directory/index.html");
  expect_missing({"/a", "/pipe", "/" + std::string(300, 'a'), "/a.txt/", "/a.txt/b", "/directory/"});
}

TEST_F(static_files_test, a_socket_is_not_there) {
  const std::string path = root_ / "socket";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  expect_missing({"/socket"});
  ::close(fd);
}

TEST_F(static_files_test, a_name_with_odd_characters_is_found) {
  write("ä & <b>?#%.txt", "odd");
  EXPECT_EQ(get("/%C3%A4%20&%20%3Cb%3E%3F%23%25.txt").body, "odd");
}

TEST_F(static_files_test, hidden_files_are_served_only_when_wanted) {
  write(".env", "key");
  write(".git/config", "c");
  write("open/.git/config", "secret");
  expect_missing({"/.env", "/.git/config", "/open/.git/config"});
  options_.hidden = true;
  EXPECT_EQ(get("/.env").body, "key");
}

TEST_F(static_files_test, the_well_known_folder_is_served_without_hidden_files) {
  write(".well-known/security.txt", "contact");
  write(".well-known/acme-challenge/token", "key");
  write(".well-known/.secret", "s");
  write(".well-known2/a", "s");
  write("a/.well-known/b", "s");
  EXPECT_EQ(get("/.well-known/security.txt").body, "contact");
  EXPECT_EQ(get("/.well-known/acme-challenge/token").body, "key");
  EXPECT_EQ(get("/.well-known").status, 308);
  expect_missing({"/.well-known/.secret", "/.well-known2/a", "/a/.well-known/b", "/.well-knowna"});
}

TEST_F(static_files_test, a_directory_is_answered_with_its_index) {
  write("docs/index.html", "<p>docs");
  const auto answer = get("/docs/");
  EXPECT_EQ(answer.body, "<p>docs");
  EXPECT_EQ(answer.field("Content-Type"), "text/html; charset=utf-8");
}

TEST_F(static_files_test, a_directory_without_its_slash_is_a_relative_redirect) {
  write("docs/index.html");
  write("a b/c:d/x");
  EXPECT_EQ(get("/docs").status, 308);
  EXPECT_EQ(get("/docs").field("Location"), "./docs/");
  EXPECT_EQ(get("/a%20b/c:d").field("Location"), "./c:d/");
  EXPECT_EQ(get("/docs?sort=size").field("Location"), "./docs/?sort=size");
  EXPECT_EQ(get("//docs").field("Location"), "../docs");  // never "//docs/", which names another host
}

TEST_F(static_files_test, a_missing_page_is_the_fallback_for_browsers_and_varies_with_accept) {
  write("index.html", "app");
  options_.fallback = "index.html";
  const auto page = get("/users/7", {{"Accept", "text/html,*/*;q=0.8"}});
  EXPECT_EQ(page.body, "app");
  EXPECT_EQ(varies(page), "Accept-Encoding, Accept");
  const auto known = get("/users/7", {{"Accept", "text/html"}, {"If-None-Match", std::string(page.field("ETag"))}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(varies(known), "Accept-Encoding, Accept");
  // Accept values of browsers for scripts, styles and images, and of other programs.
  for (const char* const accept : {"*/*", "text/css,*/*;q=0.1", "image/avif,image/webp,image/*,*/*;q=0.8"}) {
    const auto missing = get("/missing.js", {{"Accept", accept}});
    EXPECT_EQ(missing.status, 404) << accept;
    EXPECT_EQ(missing.body, "Not Found\n");
    EXPECT_EQ(varies(missing), "Accept");
  }
  expect_missing({"/missing.js"});
  EXPECT_EQ(varies(get("/index.html")), "Accept-Encoding");
  options_.fallback = "nowhere.html";
  EXPECT_EQ(get("/users/7", {{"Accept", "text/html"}}).status, 404);
  options_.fallback.clear();
  EXPECT_EQ(varies(get("/users/7")), "");
}

TEST_F(static_files_test, a_root_that_is_no_directory_is_refused) {
  write("file");
  EXPECT_THROW(http::static_files((root_ / "file").string()), gyre::io_error);
  EXPECT_THROW(http::static_files((root_ / "nothing").string()), gyre::io_error);
}

TEST_F(static_files_test, a_tree_below_a_prefix_finds_its_own_paths) {
  write("a/b.txt", "b");
  http::router routes;
  routes.get("/assets/{rest...}", http::static_files(root_.string()));
  serve(std::move(routes), [](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/assets/a/b.txt"), "200 b");
    EXPECT_EQ(co_await text_of(here, "/a/b.txt"), "404");
  });
}
