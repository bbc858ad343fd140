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

TEST(file_error, open_names_the_path_and_the_reason) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string missing = dir.path("missing");
    std::string text = co_await error_of(fs::file::open(missing));
    EXPECT_EQ(text, "open " + missing + ": No such file or directory");
    text = co_await error_of(fs::file::open(dir.root(), fs::for_writing));
    EXPECT_EQ(text, "open " + dir.root() + ": Is a directory");
    const std::string present = dir.put("a", "x");
    text = co_await error_of(fs::file::open(present, {.write = true, .create = true, .exclusive = true}));
    EXPECT_EQ(text, "open " + present + ": File exists");
    text = co_await error_of(fs::file::open(present + "/b"));
    EXPECT_EQ(text, "open " + present + "/b: Not a directory");
    text = co_await error_of(fs::file::open(present, {.read = true, .directory = true}));
    EXPECT_EQ(text, "open " + present + ": Not a directory");
    text = co_await error_of(fs::file::open(""));
    EXPECT_EQ(text, "open: No such file or directory");
  });
}

TEST(file_error, permissions_hold) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", "secret");
    ::chmod(dir.root().c_str(), 0755);
    ::chmod(path.c_str(), 0);
    const as_nobody unprivileged;
    const std::string text = co_await error_of(fs::file::open(path));
    EXPECT_EQ(text, "open " + path + ": Permission denied");
  });
}

TEST(file_error, options_that_contradict_each_other_are_refused) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(file_error, a_path_with_a_zero_byte_is_of_no_file) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", "kept");
    const auto opened = co_await gyre::as_expected(fs::file::open(path + std::string("\0.txt", 5)));
    EXPECT_EQ(opened.error(), std::errc::invalid_argument);
    const auto removed = co_await gyre::as_expected(fs::remove(path + std::string("\0.txt", 5)));
    EXPECT_EQ(removed.error(), std::errc::invalid_argument);
    EXPECT_TRUE(dir.has("a"));
  });
}

TEST(file_error, the_wrong_direction_and_directories_are_refused) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", "text");
    std::array<std::byte, 8> buffer;
    fs::file in = co_await fs::file::open(path);
    std::string text = co_await error_of(in.write_all("x"));
    EXPECT_EQ(text, "write_all " + path + ": Bad file descriptor");
    fs::file out = co_await fs::file::open(path, fs::for_appending);
    text = co_await error_of(out.read_some(buffer));
    EXPECT_EQ(text, "read_some " + path + ": Bad file descriptor");
    text = co_await error_of(in.resize(0));
    EXPECT_EQ(text, "resize " + path + ": Invalid argument");
    fs::file directory = co_await fs::file::open(dir.root());
    text = co_await error_of(directory.read_some(buffer));
    EXPECT_EQ(text, "read_some " + dir.root() + ": Is a directory");
    text = co_await error_of(directory.read_at(buffer, 10));
    EXPECT_EQ(text, "read_at " + dir.root() + ": Is a directory");
  });
}

TEST(file_error, offsets_that_no_file_has_are_refused) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file f = co_await fs::file::open(dir.put("a", "text"), {.read = true, .write = true});
    std::array<std::byte, 8> buffer;
    for (const std::uint64_t offset : {~std::uint64_t{0}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63U}) {
      const auto read = co_await gyre::as_expected(f.read_at(buffer, offset));
      EXPECT_EQ(read.error(), std::errc::invalid_argument);
      const auto written = co_await gyre::as_expected(f.write_at("x", offset));
      EXPECT_EQ(written.error(), std::errc::invalid_argument);
      const auto nothing = co_await gyre::as_expected(f.write_at("", offset));
      EXPECT_EQ(nothing.error(), std::errc::invalid_argument) << "like pwrite(2)";
      const std::array<gyre::io::mutable_buffer, 1> into{{{buffer.data(), buffer.size()}}};
      const auto scattered = co_await gyre::as_expected(f.read_at(into, offset));
      EXPECT_EQ(scattered.error(), std::errc::invalid_argument);
    }
    EXPECT_EQ(f.position(), 0U);
    EXPECT_EQ(dir.get("a"), "text");
  });
}

TEST(file_error, a_full_disk_is_reported) {
  run_test([]() -> gyre::task<> {
    fs::file full = co_await fs::file::open("/dev/full", {.write = true});
    const std::string text = co_await error_of(full.write_all("x"));
    EXPECT_EQ(text, "write_all /dev/full: No space left on device");
  });
}

TEST(file_error, errors_come_as_values_too) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(file_error, a_descriptor_that_is_none_is_refused) {
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
