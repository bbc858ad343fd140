// tests/fs/whole_file_test.cpp: a file read or written as a whole.
#include <gyre/fs/whole_file.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(whole_file, gives_back_the_text_that_was_written) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    for (const std::size_t size : {0U, 1U, 4'095U, 4'096U, 4'097U, 1'000'000U}) {
      const std::string text = text_of(pattern(size));
      co_await fs::write_all_to(dir.path("a"), text);
      const std::string back = co_await fs::read_all(dir.path("a"));
      EXPECT_EQ(back, text);
    }
  });
}

TEST(whole_file, is_read_to_its_end_when_its_size_is_not_known) {
  run_test([]() -> gyre::task<> {
    const std::string text = co_await fs::read_all("/proc/self/maps");
    EXPECT_GT(text.size(), 4'096U);
    EXPECT_EQ(text.back(), '\n');
  });
}

TEST(whole_file, that_is_larger_than_the_limit_is_an_error) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", std::string(5'000, 'x'));
    const std::string all = co_await fs::read_all(path, 5'000);
    EXPECT_EQ(all.size(), 5'000U);
    co_await expect_error(fs::read_all(path, 4'999), "read_all " + path + ": File too large");
    co_await expect_error(fs::read_all(path, 0), "read_all " + path + ": File too large");
    const std::string nothing = co_await fs::read_all(dir.put("b", ""), 0);
    EXPECT_EQ(nothing, "");
  });
}

TEST(whole_file, names_its_path_in_errors) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await expect_error(fs::read_all(dir.path("a")), "open " + dir.path("a") + ": No such file or directory");
    co_await expect_error(fs::read_all(dir.root()), "read_some " + dir.root() + ": Is a directory");
    co_await expect_error(fs::write_all_to(dir.path("x/a"), "x"),
                          "open " + dir.path("x/a") + ": No such file or directory");
  });
}

TEST(whole_file, keeps_permissions_and_links_when_it_is_written_in_place) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "something longer");
    ::chmod(path.c_str(), 0600);
    co_await fs::create_symlink("a", dir.path("link"));
    co_await fs::write_all_to(dir.path("link"), "short", {.durable = true});
    EXPECT_EQ(dir.get("a"), "short");
    const fs::status known = co_await fs::stat(path);
    EXPECT_EQ(known.permissions, 0600U);
  });
}

TEST(whole_file, that_is_replaced_stays_as_it_was_for_those_that_have_it_open) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "old");
    fs::file before = co_await fs::file::open(path);
    co_await fs::write_all_to(path, "new", {.atomic = true, .durable = true, .permissions = 0600});
    EXPECT_EQ(dir.get("a"), "new");
    co_await expect_read(before, "old");
    const fs::status known = co_await fs::stat(path);
    EXPECT_EQ(known.permissions, 0600U);
    EXPECT_EQ(dir.entries(), 1U);
  });
}

TEST(whole_file, leaves_nothing_behind_when_its_replacement_fails) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await fs::create_directory(dir.path("d"));
    const std::string text = co_await error_of(fs::write_all_to(dir.path("d"), "x", {.atomic = true}));
    EXPECT_TRUE(text.ends_with(" to " + dir.path("d") + ": Is a directory")) << text;
    EXPECT_EQ(dir.entries(), 1U);
  });
}

TEST(whole_file, is_the_old_or_the_new_one_after_a_replacement_that_is_cancelled_anywhere) {
  const scratch dir;
  const std::string old_text(100, 'o');
  const std::string new_text(300'000, 'n');
  auto scenario = [&]() -> gyre::task<> {
    co_await fs::write_all_to(dir.path("a"), new_text, {.atomic = true, .durable = true});
  };
  dir.put("a", old_text);
  std::size_t old_kept = 0;
  const auto report = gyre::testing::cancel_at_every_await(scenario, [&](bool was_cancelled) {
    EXPECT_EQ(dir.entries(), 1U);
    const std::string found = dir.get("a");
    EXPECT_TRUE(found == old_text || found == new_text);
    if (!was_cancelled) EXPECT_EQ(found, new_text);
    if (found == old_text) ++old_kept;
    dir.put("a", old_text);
  });
  EXPECT_GT(report.cancelled, 3U);
  EXPECT_GT(report.completed, 0U);
  EXPECT_GT(old_kept, 0U);
}

TEST(whole_file, leaks_nothing_when_a_read_is_cancelled_anywhere) {
  const scratch dir;
  const std::string path = dir.put("a", std::string(600'000, 'x'));
  auto scenario = [&]() -> gyre::task<> {
    forget_cached(path);
    const std::string text = co_await fs::read_all(path);
    EXPECT_EQ(text.size(), 600'000U);
    const auto entries = co_await fs::list_directory(dir.root());
    EXPECT_EQ(entries.size(), 1U);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 2U);
  EXPECT_GT(report.completed, 0U);
}
