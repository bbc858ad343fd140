// tests/fs/watcher_test.cpp: changes in directories.
#include <gyre/fs/watcher.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

constexpr const char* words[] = {"created", "written", "removed", "ended", "lost"};

std::string change_text(const fs::change& c) {
  return std::string(words[static_cast<int>(c.kind)]) + " " + c.name + (c.is_directory ? "/" : "");
}

/// Reads until `count` changes have arrived.
gyre::task<std::vector<std::string>> next(fs::watcher& watcher, std::size_t count) {
  std::vector<std::string> all;
  while (all.size() < count) {
    const auto batch = co_await watcher.read_some();
    EXPECT_FALSE(batch.empty());
    for (const fs::change& each : batch) all.push_back(change_text(each));
  }
  co_return all;
}

using lines = std::vector<std::string>;

}  // namespace

TEST(watcher, reports_entries_that_are_made_written_renamed_and_removed) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::watcher watcher;
    co_await watcher.watch(dir.root());
    co_await fs::write_all_to(dir.path("a"), "x");
    lines found = co_await next(watcher, 2);
    EXPECT_EQ(found, (lines{"created a", "written a"}));
    co_await fs::rename(dir.path("a"), dir.path("b"));
    co_await fs::create_directory(dir.path("d"));
    co_await fs::remove(dir.path("b"));
    co_await fs::remove_directory(dir.path("d"));
    found = co_await next(watcher, 5);
    EXPECT_EQ(found, (lines{"removed a", "created b", "created d/", "removed b", "removed d/"}));
  });
}

TEST(watcher, waits_in_a_read_and_loses_nothing_by_a_cancel) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::watcher watcher;
    co_await watcher.watch(dir.root());
    const std::string late = co_await error_of(gyre::timeout(5ms, watcher.read_some()));
    EXPECT_NE(late, "");
    dir.put("a", "");
    const lines found = co_await next(watcher, 2);
    EXPECT_EQ(found, (lines{"created a", "written a"}));
  });
}

TEST(watcher, tells_several_directories_apart_and_reports_their_end) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::watcher watcher;
    co_await fs::create_directory(dir.path("one"));
    co_await fs::create_directory(dir.path("two"));
    co_await watcher.watch(dir.path("one"));
    co_await watcher.watch(dir.path("two"));
    dir.put("two/a", "");
    const auto changes = co_await watcher.read_some();
    EXPECT_EQ(changes.front().directory, dir.path("two"));
    co_await fs::remove_directory(dir.path("one"));
    for (;;) {
      const auto more = co_await watcher.read_some();
      if (more.back().kind != fs::change_kind::ended) continue;
      EXPECT_EQ(more.back().directory, dir.path("one"));
      break;
    }
  });
}

TEST(watcher, refuses_a_path_that_is_no_directory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::watcher watcher;
    co_await expect_error(watcher.watch(dir.path("a")), "watch " + dir.path("a") + ": No such file or directory");
    co_await expect_error(watcher.watch(dir.put("b", "")), "watch " + dir.path("b") + ": Not a directory");
  });
}

TEST(watcher_death, that_two_tasks_use_at_once_stops_the_program) {
  const gyre_test::scratch quiet;  // nothing else changes there
  const auto use_twice = [&quiet] {
    gyre::run([&quiet]() -> gyre::task<> {
      gyre::fs::watcher watcher;
      co_await watcher.watch(quiet.root());
      auto first = gyre::spawn(watcher.read_some());
      co_await gyre::sleep(std::chrono::milliseconds(5));
      co_await watcher.watch(quiet.root());
    });
  };
  EXPECT_DEATH(use_twice(), "two tasks use one watcher at the same time: let one task read");
}
