// tests/fs/copy_test.cpp: copying a file.
#include <gyre/fs/copy.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/full_disk.hpp"
#include "tests/support/mebibyte.hpp"

#include <algorithm>
#include <vector>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

struct stat status_of(const std::string& path) {
  struct stat known{};
  EXPECT_EQ(::stat(path.c_str(), &known), 0);
  return known;
}
unsigned permissions_of(const std::string& path) { return status_of(path).st_mode & 07777U; }

}  // namespace

TEST(file_copy, has_the_bytes_of_the_source) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{4'095}, std::size_t{4'097}, mebibyte + 3, 40 * mebibyte + 1}) {
      const std::string text = text_of(pattern(size));
      const std::string source = dir.put("a", text);
      const std::uint64_t copied = co_await fs::copy(source, dir.path("b"));
      EXPECT_EQ(copied, size);
      EXPECT_TRUE(dir.get("b") == text) << size;
    }
  });
}

TEST(file_copy, replaces_the_contents_and_keeps_the_permissions_of_a_file_that_is_there) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "new");
    const std::string target = dir.put("b", "something longer");
    ::chmod(source.c_str(), 0755);
    ::chmod(target.c_str(), 0600);
    (void)co_await fs::copy(source, target);
    EXPECT_EQ(dir.get("b"), "new");
    EXPECT_EQ(permissions_of(target), 0600U);
    (void)co_await fs::copy(source, dir.path("c"));
    EXPECT_EQ(permissions_of(dir.path("c")), 0755U);
  });
}

TEST(file_copy, that_is_exclusive_replaces_nothing) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "new");
    const std::string target = dir.put("b", "old");
    co_await expect_error(fs::copy(source, target, {.exclusive = true}), "open " + target + ": File exists");
    EXPECT_EQ(dir.get("b"), "old");
  });
}

TEST(file_copy, refuses_to_copy_a_file_onto_itself) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "kept");
    std::filesystem::create_hard_link(source, dir.path("b"));
    for (const std::string& target : {source, dir.path("b")}) {
      co_await expect_error(fs::copy(source, target), "copy " + source + " to " + target + ": Invalid argument");
    }
    EXPECT_EQ(dir.get("a"), "kept");
  });
}

TEST(file_copy, names_the_paths_in_its_errors) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "text");
    co_await expect_error(fs::copy(dir.path("none"), dir.path("b")),
                          "open " + dir.path("none") + ": No such file or directory");
    co_await expect_error(fs::copy(source, dir.path("none/b")),
                          "open " + dir.path("none/b") + ": No such file or directory");
    co_await expect_error(fs::copy(dir.root(), dir.path("b")),
                          "copy " + dir.root() + " to " + dir.path("b") + ": Is a directory");
    co_await expect_error(fs::copy("/dev/zero", dir.path("b")),
                          "copy /dev/zero to " + dir.path("b") + ": Invalid argument");
    co_await expect_error(fs::copy(source, "/dev/null"), "copy " + source + " to /dev/null: Invalid argument");
    EXPECT_FALSE(dir.has("b"));
  });
}

TEST(file_copy, reports_a_target_that_must_not_grow) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", std::string(mebibyte, 'x'));
    const file_size_limit small(100'000);
    co_await expect_error(fs::copy(source, dir.path("b")),
                          "copy " + source + " to " + dir.path("b") + ": File too large");
  });
}

TEST(file_copy, keeps_holes_as_holes) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "begin");
    const int fd = ::open(source.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::pwrite(fd, "middle", 6, 8 * mebibyte), 6);
    EXPECT_EQ(::ftruncate(fd, 64 * mebibyte), 0);
    ::close(fd);
    const std::uint64_t copied = co_await fs::copy(source, dir.path("b"));
    EXPECT_EQ(copied, 64 * mebibyte);
    EXPECT_TRUE(dir.get("b") == dir.get("a"));
    EXPECT_LE(status_of(dir.path("b")).st_blocks, status_of(source).st_blocks + 64);
  });
}

TEST(file_copy, has_all_of_a_file_whose_size_is_not_known) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::uint64_t copied = co_await fs::copy("/proc/cpuinfo", dir.path("b"));
    EXPECT_GT(copied, 0U);
    EXPECT_EQ(dir.get("b").size(), copied);
    EXPECT_TRUE(dir.get("b").starts_with("processor"));
  });
}

TEST(file_copy, crosses_file_systems) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string text = text_of(pattern(3 * mebibyte));
    const std::string source = dir.put("a", text);
    const std::string there = "/dev/shm/gyre_copy_test." + std::to_string(::getpid());
    const std::uint64_t copied = co_await fs::copy(source, there);
    EXPECT_EQ(copied, text.size());
    (void)co_await fs::copy(there, dir.path("b"));
    EXPECT_TRUE(dir.get("b") == text);
    co_await fs::remove(there);
  });
}

TEST(file_copy, reports_its_progress_while_other_tasks_run) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", std::string(64 * mebibyte, 'x'));
    fs::copy_progress progress;
    std::vector<std::uint64_t> seen;
    auto watch = [&]() -> gyre::task<> {
      for (;;) {
        seen.push_back(progress.copied);
        co_await gyre::yield();
      }
    };
    auto watching = gyre::spawn(watch);
    (void)co_await fs::copy(source, dir.path("b"), {.progress = &progress});
    watching.cancel();
    co_await watching.wait();
    EXPECT_EQ(progress.copied, 64 * mebibyte);
    EXPECT_EQ(progress.size, 64 * mebibyte);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_GT(seen.size(), 1U) << "the loop went on meanwhile";
  });
}

TEST(file_copy, leaks_nothing_and_leaves_a_first_part_when_it_is_cancelled_at_any_await) {
  const scratch dir;
  const std::string text = text_of(pattern(40 * mebibyte));
  const std::string source = dir.put("a", text);
  auto scenario = [&]() -> gyre::task<> {
    ::unlink(dir.path("b").c_str());
    (void)co_await fs::copy(source, dir.path("b"));
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [&](bool was_cancelled) {
    if (!dir.has("b")) return;
    const std::string there = dir.get("b");
    EXPECT_TRUE(text.starts_with(there));
    if (!was_cancelled) {
      EXPECT_EQ(there.size(), text.size());
    }
  });
  EXPECT_GE(report.cancelled, 3U);
}
