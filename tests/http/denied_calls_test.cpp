// tests/http/denied_calls_test.cpp: serving files where a system call filter denies the calls that suit it best.
#include <gyre/gyre.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"
#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using gyre_test::http_test_client;

namespace {

class denied_calls_of_http : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!gyre_test::forked_children_may_start_threads) GTEST_SKIP();
  }
};

/// The body of a file below a directory. When `ranges` is set, it is requested in two ranges.
gyre::task<std::string> file_served_from(std::string root, std::string ranges) {
  http::router routes;
  routes.get("/{path...}", http::static_files(std::move(root)));
  http_test_client app(std::move(routes));
  std::vector<std::pair<std::string, std::string>> fields;
  if (!ranges.empty()) fields.emplace_back("Range", std::move(ranges));
  auto answer = app.request("GET", "/below/a.txt", fields, "");
  const auto answered = co_await std::move(answer);
  co_return answered.body;
}

}  // namespace

TEST_P(denied_calls_of_http, files_are_opened_without_openat2) {
  const gyre_test::scratch scratch;
  std::filesystem::create_directories(std::filesystem::path(scratch.root()) / "below");
  std::ofstream(std::filesystem::path(scratch.root()) / "below/a.txt") << "the file";
  const auto got = gyre_test::in_child_process([&] {
    gyre_test::deny_call(SYS_openat2, GetParam());
    return gyre::run(file_served_from(scratch.root(), ""));
  });
  EXPECT_TRUE(got.ended) << got.signal;
  EXPECT_EQ(got.text, "the file");
}

TEST_P(denied_calls_of_http, secrets_are_random_without_getrandom) {
  const gyre_test::scratch scratch;
  std::filesystem::create_directories(std::filesystem::path(scratch.root()) / "below");
  std::ofstream(std::filesystem::path(scratch.root()) / "below/a.txt") << "the file";
  const auto got = gyre_test::in_child_process([&] {
    gyre_test::deny_call(SYS_getrandom, GetParam());
    const std::string first = http::make_request_id();
    const bool differ = first.size() == 32 && first != http::make_request_id();
    return std::string(differ ? "ids differ, " : "ids are the same, ") +
           gyre::run(file_served_from(scratch.root(), "bytes=0-0,4-5"));
  });
  EXPECT_TRUE(got.ended) << got.signal;
  EXPECT_TRUE(got.says("ids differ")) << got.text;
  EXPECT_TRUE(got.says("--gyre-")) << got.text;
  EXPECT_FALSE(got.says("--gyre-000000000000000000000000")) << got.text;
}

TEST(files_that_cannot_be_opened, are_refused_with_the_status_of_the_reason) {
  if (!gyre_test::forked_children_may_start_threads) GTEST_SKIP();
  const gyre_test::scratch scratch;
  std::filesystem::create_directories(std::filesystem::path(scratch.root()) / "below");
  std::ofstream(std::filesystem::path(scratch.root()) / "below/a.txt") << "the file";
  for (const auto& [error, status] : std::vector<std::pair<int, const char*>>{
           {EACCES, "403"}, {EMFILE, "503"}, {ENFILE, "503"}, {ELOOP, "404"}, {EXDEV, "404"}, {EIO, "500"}}) {
    const auto got = gyre_test::in_child_process([&, reason = error] {
      gyre_test::deny_call(SYS_openat2, reason);
      const auto ask = [&]() -> gyre::task<std::string> {
        http::router routes;
        routes.get("/{path...}", http::static_files(scratch.root()));
        http_test_client app(std::move(routes));
        auto asking = app.get("/below/a.txt");
        const auto answer = co_await std::move(asking);
        co_return std::to_string(answer.status);
      };
      return gyre::run(ask);
    });
    EXPECT_EQ(got.text, status) << error;
  }
}

TEST(files_that_cannot_be_opened, hide_the_list_of_a_directory_whose_index_they_are) {
  if (!gyre_test::forked_children_may_start_threads) GTEST_SKIP();
  const gyre_test::scratch scratch;
  const std::filesystem::path root = scratch.root();
  std::filesystem::permissions(root, std::filesystem::perms(0755));
  std::ofstream(root / "index.html") << "<p>page";
  std::ofstream(root / "name") << "a file";
  std::filesystem::permissions(root / "index.html", std::filesystem::perms::none);
  const auto got = gyre_test::in_child_process([&] {
    constexpr uid_t nobody = 65'534;
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) return std::string("it stays root");
    const auto ask = [&]() -> gyre::task<std::string> {
      http::router routes;
      routes.get("/{path...}", http::static_files(root.string(), {.listing = true}));
      http_test_client app(std::move(routes));
      auto asking = app.get("/");
      const auto answer = co_await std::move(asking);
      co_return std::to_string(answer.status) + ' ' + answer.body;
    };
    return gyre::run(ask);
  });
  EXPECT_EQ(got.text, "403 Forbidden\n");
}

INSTANTIATE_TEST_SUITE_P(with, denied_calls_of_http, ::testing::Values(EPERM, ENOSYS),
                         [](const auto& each) { return each.param == EPERM ? "EPERM" : "ENOSYS"; });
