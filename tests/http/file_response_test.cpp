// tests/http/file_response_test.cpp: a handler that answers with one file.
#include <gyre/gyre.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace {

namespace http = gyre::http;
using gyre::testing::http_answer;
using gyre_test::http_test_client;

http_answer answer_with(const std::string& path, std::vector<std::pair<std::string, std::string>> fields = {}) {
  http_answer got;
  auto body = [&]() -> gyre::task<> {
    http::router routes;
    routes.get("/", [&path](http::request& r) -> gyre::task<http::response> {
      http::response answer = co_await http::file_response(r, path);
      co_return answer;
    });
    http_test_client app(std::move(routes));
    auto answer = app.request("GET", "/", fields, "");
    got = co_await std::move(answer);
  };
  EXPECT_NO_THROW(gyre::testing::run_test(body));
  return got;
}

}  // namespace

TEST(file_response, gives_the_file_with_its_media_type) {
  const gyre_test::scratch dir;
  const http_answer got = answer_with(dir.put("page.html", "<p>hello"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "<p>hello");
  EXPECT_TRUE(std::string(got.field("Content-Type")).starts_with("text/html"));
}

TEST(file_response, gives_a_part_that_is_asked_for) {
  const gyre_test::scratch dir;
  const http_answer got = answer_with(dir.put("a.txt", "0123456789"), {{"Range", "bytes=2-4"}});
  EXPECT_EQ(got.status, 206);
  EXPECT_EQ(got.body, "234");
}

TEST(file_response, a_path_with_a_zero_byte_is_not_found) {
  const gyre_test::scratch dir;
  using namespace std::string_literals;
  EXPECT_EQ(answer_with(dir.put("a.txt", "a") + "\0.png"s).status, 404);
}

TEST(file_response, a_path_without_a_file_is_not_found) {
  const gyre_test::scratch dir;
  EXPECT_EQ(answer_with(dir.path("missing")).status, 404);
  EXPECT_EQ(answer_with(dir.root()).status, 404);
  EXPECT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(answer_with(dir.path("pipe")).status, 404);  // it does not wait for a writer
}

TEST(file_response, a_loop_of_links_is_answered_as_an_error_of_the_server) {
  const gyre_test::scratch dir;
  EXPECT_EQ(::symlink("loop", dir.path("loop").c_str()), 0);
  const int status = answer_with(dir.path("loop")).status;
  EXPECT_TRUE(status == 404 || status == 500) << status;
}

namespace {

/// The statuses and bodies of the answers to GET requests, of a handler that sends the files below a directory.
std::vector<std::string> answers_below(const std::string& root, const std::vector<std::string>& targets) {
  std::vector<std::string> all;
  auto body = [&]() -> gyre::task<> {
    http::router routes;
    routes.get("/files/{name}", [&root](http::request& r) -> gyre::task<http::response> {
      http::response answer = co_await http::file_response_below(r, root, std::string(r.path_parameter("name")));
      co_return answer;
    });
    http_test_client app(std::move(routes));
    for (const std::string& each : targets) {
      auto asking = app.get(each);
      const http_answer answer = co_await std::move(asking);
      all.push_back(std::to_string(answer.status) + (answer.status == 200 ? ' ' + answer.body : ""));
    }
  };
  EXPECT_NO_THROW(gyre::testing::run_test(body));
  return all;
}

}  // namespace

TEST(file_response_below, gives_files_below_the_directory) {
  const gyre_test::scratch dir;
  ASSERT_EQ(::mkdir(dir.path("tree").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(dir.path("tree/sub").c_str(), 0700), 0);
  (void)dir.put("tree/a.txt", "a");
  (void)dir.put("tree/sub/b.txt", "b");
  EXPECT_EQ(answers_below(dir.path("tree"), {"/files/a.txt", "/files/sub%2Fb.txt", "/files/none", "/files/sub"}),
            (std::vector<std::string>{"200 a", "200 b", "404", "404"}));
}

TEST(file_response_below, gives_no_file_outside_of_the_directory_whatever_the_path_is) {
  const gyre_test::scratch dir;
  ASSERT_EQ(::mkdir(dir.path("tree").c_str(), 0700), 0);
  (void)dir.put("secret", "s");
  (void)dir.put("tree/a.txt", "a");
  (void)dir.put("tree/.hidden", "h");
  ASSERT_EQ(::symlink("../secret", dir.path("tree/link").c_str()), 0);
  std::string absolute = dir.path("tree/a.txt");
  for (std::size_t at = 0; (at = absolute.find('/', at)) != std::string::npos;) absolute.replace(at, 1, "%2F");
  const std::vector<std::string> targets = {"/files/..%2Fsecret",
                                            "/files/%2e%2e%2fsecret",
                                            "/files/..%2Ftree%2Fa.txt",
                                            "/files/..",
                                            "/files/.",
                                            "/files/.hidden",
                                            "/files/link",
                                            "/files/" + absolute,
                                            "/files/a.txt%00",
                                            "/files/%2F"};
  EXPECT_EQ(answers_below(dir.path("tree"), targets), std::vector<std::string>(targets.size(), "404"));
}

TEST(file_response_below, a_directory_that_is_missing_is_an_error_of_the_server) {
  const gyre_test::scratch dir;
  EXPECT_EQ(answers_below(dir.path("missing"), {"/files/a.txt"}), (std::vector<std::string>{"500"}));
}
