// tests/fs/copy_test.cpp: copying a file.
#include <gyre/fs/copy.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/mebibyte.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <vector>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

std::uint64_t blocks_of(const std::string& path) {
  struct stat known{};
  EXPECT_EQ(::stat(path.c_str(), &known), 0);
  return static_cast<std::uint64_t>(known.st_blocks);
}
unsigned permissions_of(const std::string& path) {
  struct stat known{};
  EXPECT_EQ(::stat(path.c_str(), &known), 0);
  return known.st_mode & 07777U;
}

}  // namespace

TEST(file_copy, has_the_bytes_of_the_source) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(file_copy, an_exclusive_one_replaces_nothing) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string source = dir.put("a", "new");
    const std::string target = dir.put("b", "old");
    const std::string text = co_await error_of(fs::copy(source, target, {.exclusive = true}));
    EXPECT_EQ(text, "open " + target + ": File exists");
    EXPECT_EQ(dir.get("b"), "old");
  });
}

TEST(file_copy, onto_itself_is_an_error_and_changes_nothing) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string source = dir.put("a", "kept");
    std::filesystem::create_hard_link(source, dir.path("b"));
    for (const std::string& target : {source, dir.path("b")}) {
      const std::string text = co_await error_of(fs::copy(source, target));
      EXPECT_EQ(text, "copy " + source + " to " + target + ": Invalid argument");
    }
    EXPECT_EQ(dir.get("a"), "kept");
  });
}

TEST(file_copy, errors_name_the_paths) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string source = dir.put("a", "text");
    std::string text = co_await error_of(fs::copy(dir.path("none"), dir.path("b")));
    EXPECT_EQ(text, "open " + dir.path("none") + ": No such file or directory");
    text = co_await error_of(fs::copy(source, dir.path("none/b")));
    EXPECT_EQ(text, "open " + dir.path("none/b") + ": No such file or directory");
    text = co_await error_of(fs::copy(dir.root(), dir.path("b")));
    EXPECT_EQ(text, "copy " + dir.root() + " to " + dir.path("b") + ": Is a directory");
    text = co_await error_of(fs::copy("/dev/zero", dir.path("b")));
    EXPECT_EQ(text, "copy /dev/zero to " + dir.path("b") + ": Invalid argument");
    text = co_await error_of(fs::copy(source, "/dev/null"));
    EXPECT_EQ(text, "copy " + source + " to /dev/null: Invalid argument");
    EXPECT_FALSE(dir.has("b"));
  });
}

TEST(file_copy, reports_a_target_that_must_not_grow) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string source = dir.put("a", std::string(mebibyte, 'x'));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string text = co_await error_of(fs::copy(source, dir.path("b")));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_DFL);
    EXPECT_EQ(text, "copy " + source + " to " + dir.path("b") + ": File too large");
  });
}

TEST(file_copy, holes_stay_holes) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string source = dir.put("a", "begin");
    const int fd = ::open(source.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::pwrite(fd, "middle", 6, 8 * mebibyte), 6);
    EXPECT_EQ(::ftruncate(fd, 64 * mebibyte), 0);
    ::close(fd);
    const std::uint64_t copied = co_await fs::copy(source, dir.path("b"));
    EXPECT_EQ(copied, 64 * mebibyte);
    EXPECT_TRUE(dir.get("b") == dir.get("a"));
    EXPECT_LE(blocks_of(dir.path("b")), blocks_of(source) + 64);
  });
}

TEST(file_copy, of_a_file_whose_size_is_not_known_has_all_of_it) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::uint64_t copied = co_await fs::copy("/proc/cpuinfo", dir.path("b"));
    EXPECT_GT(copied, 0U);
    EXPECT_EQ(dir.get("b").size(), copied);
    EXPECT_TRUE(dir.get("b").starts_with("processor"));
  });
}

TEST(file_copy, crosses_file_systems) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(file_copy, tells_its_progress_while_other_tasks_run) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(file_copy, a_cancel_at_any_await_leaks_nothing_and_leaves_a_first_part) {
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
