// programs/encryption/file_changes.cpp
#include "programs/encryption/file_changes.hpp"

#include <gyre/fs/watcher.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace programs {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds settling(200);
constexpr std::chrono::seconds between_looks(60);  // a change of a distant link makes no event
constexpr std::chrono::seconds between_looks_without_events(2);

}  // namespace

file_changes::file_changes(std::vector<std::string> files) : files_(std::move(files)), known_(state()) {}

std::string file_changes::state() const {
  std::string all;
  for (const std::string& each : files_) {
    struct stat found{};
    if (::stat(each.c_str(), &found) != 0) found = {};
    all += fmt::format("{} {} {}.{} {}\n", found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                       found.st_dev);
  }
  return all;
}

// Where the files are, and where the symbolic links on the way to them are.
std::vector<std::string> file_changes::directories() const {
  std::set<std::string> all;
  std::error_code ignored;
  for (const std::string& each : files_) {
    const fs::path file = fs::absolute(each, ignored);
    all.insert(file.parent_path());
    fs::path prefix;
    for (const fs::path& part : file) {
      prefix /= part;
      if (fs::is_symlink(prefix, ignored)) all.insert(prefix.parent_path());
    }
    const fs::path real = fs::canonical(file, ignored);
    if (!real.empty()) all.insert(real.parent_path());
  }
  return {all.begin(), all.end()};
}

gyre::task<> file_changes::wait() {
  for (;;) {
    co_await wait_for_a_hint();
    std::string before = known_;
    for (;;) {
      co_await gyre::sleep(settling);
      auto look = [this] { return state(); };
      std::string now = co_await gyre::to_thread(look);
      if (now == known_) break;  // another file of the directory
      if (now == before) co_return;
      before = std::move(now);
    }
  }
}

// Returns when the files may have changed.
gyre::task<> file_changes::wait_for_a_hint() const {
  try {
    gyre::fs::watcher watcher;
    auto find = [this] { return directories(); };
    const std::vector<std::string> found = co_await gyre::to_thread(find);
    for (const std::string& each : found) co_await watcher.watch(each);
    auto look = [this] { return state() != known_; };
    const bool changed_before = co_await gyre::to_thread(look);
    if (changed_before) co_return;
    auto limited = gyre::timeout(between_looks, watcher.read_some());
    (void)co_await gyre::as_expected(std::move(limited));
    co_return;
  } catch (const gyre::io_error&) {  // there is no inotify, or a directory is just being replaced
  }
  co_await gyre::sleep(between_looks_without_events);
}

}  // namespace programs
