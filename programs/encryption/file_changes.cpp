// programs/encryption/file_changes.cpp
#include "programs/encryption/file_changes.hpp"

#include "programs/common/abandonable_call.hpp"

#include <gyre/fs/watcher.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/timeout.hpp>

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

// Where the files are, and where the symbolic links on the way to them are.
std::vector<std::string> directories_of(const std::vector<std::string>& files) {
  std::set<std::string> all;
  std::error_code ignored;
  for (const std::string& each : files) {
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

}  // namespace

file_changes::file_changes(std::vector<std::string> files) : files_(std::move(files)), known_(state_of(files_)) {}

std::string file_changes::state_of(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& each : files) {
    struct stat found{};
    if (::stat(each.c_str(), &found) != 0) found = {};
    all += fmt::format("{} {} {}.{} {}\n", found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                       found.st_dev);
  }
  return all;
}

gyre::task<> file_changes::wait() {
  for (;;) {
    co_await wait_for_a_hint();
    std::string before = known_;
    for (;;) {
      co_await gyre::sleep(settling);
      auto looking = call_abandonably([files = files_] { return state_of(files); });
      std::string now = co_await std::move(looking);
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
    auto finding = call_abandonably([files = files_] { return directories_of(files); });
    const std::vector<std::string> found = co_await std::move(finding);
    for (const std::string& each : found) co_await watcher.watch(each);
    auto looking = call_abandonably([files = files_] { return state_of(files); });
    if (co_await std::move(looking) != known_) co_return;
    auto limited = gyre::timeout(between_looks, watcher.read_some());
    (void)co_await gyre::as_expected(std::move(limited));
    co_return;
  } catch (const gyre::io_error&) {  // there is no inotify, or a directory is just being replaced
  }
  co_await gyre::sleep(between_looks_without_events);
}

}  // namespace programs
