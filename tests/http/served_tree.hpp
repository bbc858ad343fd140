// tests/http/served_tree.hpp: a directory whose files are served, and removed after the test.
#pragma once

#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

/// Files below `root_`, served with `options_`. Tests write them, and ask for them.
class served_tree : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }

  void write(const std::string& path, const std::string& text = {}) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  void link(const std::string& name, const std::filesystem::path& target) const {
    std::filesystem::create_symlink(target, root_ / name);
  }
  /// Sets the time of the last change, as if it had been that long ago.
  void date_back(const std::string& path, std::chrono::nanoseconds age = std::chrono::hours(1)) const {
    using time = std::filesystem::file_time_type;
    std::filesystem::last_write_time(root_ / path,
                                     std::chrono::time_point_cast<time::duration>(time::clock::now() - age));
  }
  [[nodiscard]] virtual http::router routes() const {
    http::router all;
    all.get("/{path...}", http::static_files(root_.string(), options_));
    return all;
  }
  /// The answer to one request of a client without a socket.
  [[nodiscard]] http_answer get(const std::string& target, const owned_fields& fields = {},
                                const std::string& method = "GET") const {
    http_answer answer;
    run_virtual([&]() -> gyre::task<> {
      http_test_client app(routes());
      auto asking = app.request(method, target, fields, "");
      answer = co_await std::move(asking);
    });
    return answer;
  }
  /// Runs `body(memory_server&)`. A server without a connection closes its files, so one connection stays.
  template <class Body>
  static void serve(http::router routes, Body body) {
    run_in_memory(options_for(std::move(routes)), [&](memory_server& here) -> gyre::task<> {
      auto stays = here.connect();
      co_await stays.begin();
      co_await body(here);
    });
  }
  /// "200 text", or the status alone.
  static gyre::task<std::string> text_of(memory_server& here, std::string target) {
    const http_answer answer = co_await here.get(std::move(target));
    co_return std::to_string(answer.status) + (answer.status == 200 ? " " + answer.body : "");
  }

  scratch scratch_;
  std::filesystem::path root_ = std::filesystem::path(scratch_.root()) / "root";
  http::static_files_options options_;
};

}  // namespace gyre_test
