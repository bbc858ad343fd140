// tests/fs/file_error_test.cpp: errors of file operations, and their messages.
#include <gyre/fs/file.hpp>

#include "tests/fs/scratch.hpp"

#include <array>
#include <cerrno>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

/// Drops the rights of root, to whom permissions do not apply.
class as_nobody {
 public:
  as_nobody() {
    if (::geteuid() == 0) changed_ = ::seteuid(65534) == 0;
  }
  ~as_nobody() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool changed_ = false;
};

}  // namespace

TEST(file_error, names_the_path_and_the_reason_of_a_failed_open) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string missing = dir.path("missing");
    co_await expect_error(fs::file::open(missing), "open " + missing + ": No such file or directory");
    co_await expect_error(fs::file::open(dir.root(), fs::for_writing), "open " + dir.root() + ": Is a directory");
    const std::string present = dir.put("a", "x");
    co_await expect_error(fs::file::open(present, {.write = true, .create = true, .exclusive = true}),
                          "open " + present + ": File exists");
    co_await expect_error(fs::file::open(present + "/b"), "open " + present + "/b: Not a directory");
    co_await expect_error(fs::file::open(present, {.read = true, .directory = true}),
                          "open " + present + ": Not a directory");
    co_await expect_error(fs::file::open(""), "open: No such file or directory");
  });
}

TEST(file_error, is_permission_denied_for_a_file_without_permissions) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "secret");
    ::chmod(dir.root().c_str(), 0755);
    ::chmod(path.c_str(), 0);
    const as_nobody unprivileged;
    co_await expect_error(fs::file::open(path), "open " + path + ": Permission denied");
  });
}

TEST(file_error, is_invalid_argument_for_options_that_contradict_each_other) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "kept");
    for (const fs::open_options& options :
         {fs::open_options{}, fs::open_options{.read = true, .truncate = true},
          fs::open_options{.read = true, .create = true}, fs::open_options{.write = true, .exclusive = true},
          fs::open_options{.truncate = true, .append = true},
          fs::open_options{.write = true, .create = true, .permissions = 010'000}}) {
      const auto outcome = co_await gyre::as_expected(fs::file::open(path, options));
      EXPECT_EQ(outcome.error(), std::errc::invalid_argument);
    }
    EXPECT_EQ(dir.get("a"), "kept");
  });
}

TEST(file_error, is_invalid_argument_for_a_path_with_a_zero_byte) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "kept");
    const auto opened = co_await gyre::as_expected(fs::file::open(path + std::string("\0.txt", 5)));
    EXPECT_EQ(opened.error(), std::errc::invalid_argument);
    const auto removed = co_await gyre::as_expected(fs::remove(path + std::string("\0.txt", 5)));
    EXPECT_EQ(removed.error(), std::errc::invalid_argument);
    EXPECT_TRUE(dir.has("a"));
  });
}

TEST(file_error, names_the_operation_in_the_wrong_direction_or_on_a_directory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "text");
    std::array<std::byte, 8> buffer;
    fs::file in = co_await fs::file::open(path);
    co_await expect_error(in.write_all("x"), "write_all " + path + ": Bad file descriptor");
    fs::file out = co_await fs::file::open(path, fs::for_appending);
    co_await expect_error(out.read_some(buffer), "read_some " + path + ": Bad file descriptor");
    co_await expect_error(in.resize(0), "resize " + path + ": Invalid argument");
    fs::file directory = co_await fs::file::open(dir.root());
    co_await expect_error(directory.read_some(buffer), "read_some " + dir.root() + ": Is a directory");
    co_await expect_error(directory.read_at(buffer, 10), "read_at " + dir.root() + ": Is a directory");
  });
}

TEST(file_error, is_invalid_argument_for_offsets_that_no_file_has) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "text");
    std::array<std::byte, 8> buffer;
    const auto is_refused = [](auto operation) -> gyre::task<> {
      const auto outcome = co_await gyre::as_expected(std::move(operation));
      EXPECT_EQ(outcome.error(), std::errc::invalid_argument);
    };
    const std::array<gyre::io::mutable_buffer, 1> into{{{buffer.data(), buffer.size()}}};
    for (const std::uint64_t offset : {~std::uint64_t{0}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63U}) {
      co_await is_refused(f.read_at(buffer, offset));
      co_await is_refused(f.read_at(into, offset));
      co_await is_refused(f.write_at("x", offset));
      co_await is_refused(f.write_at("", offset));  // like pwrite(2)
    }
    EXPECT_EQ(f.position(), 0U);
    EXPECT_EQ(dir.get("a"), "text");
  });
}

TEST(file_error, reports_a_full_disk) {
  run_test([]() -> gyre::task<> {
    fs::file full = co_await fs::file::open("/dev/full", {.write = true});
    co_await expect_error(full.write_all("x"), "write_all /dev/full: No space left on device");
  });
}

TEST(file_error, comes_as_a_value_too) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    auto missing = co_await gyre::as_expected(fs::file::open(dir.path("missing")));
    EXPECT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    auto present = co_await gyre::as_expected(fs::file::open(dir.put("a", "text")));
    EXPECT_TRUE(present.has_value());
    std::array<std::byte, 8> buffer;
    const auto n = co_await gyre::as_expected(present->read_some(buffer));
    EXPECT_EQ(n.value(), 4U);
    const auto known = co_await gyre::as_expected(present->stat());
    EXPECT_EQ(known->size, 4U);
    const auto closed = co_await gyre::as_expected(present->close());
    EXPECT_TRUE(closed.has_value());
  });
}

TEST(file_error, is_a_bad_file_descriptor_for_a_descriptor_that_is_none) {
  run_test([]() -> gyre::task<> {
    try {
      (void)fs::file::from_fd(-1, "nothing");
      ADD_FAILURE() << "did not throw";
    } catch (const gyre::io_error& error) {
      EXPECT_STREQ(error.what(), "open nothing: Bad file descriptor");
    }
    co_return;
  });
}
