// tests/fs/other_loop_threads_test.cpp: files that the loops of several threads use.
#include <gyre/fs/watcher.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/two_loops.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

std::array<std::byte, 4> room;

gyre::fs::file zero() { return gyre::fs::file::from_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC), "zero"); }

/// A file that a task has opened, for use on another loop.
class other_loop_files_death : public testing::Test {
 protected:
  std::optional<gyre::fs::file> file_;
  std::optional<gyre::fs::watcher> watcher_;

  template <class Make>
  void expect_stop_of_file(const Make& make, const std::string& operation) {
    expect_stop_in_await([&] { file_ = zero(); }, make, elsewhere(operation, "a file"));
  }
};

}  // namespace

TEST_F(other_loop_files_death, a_wait_for_a_pipe_stops_the_program) {
  gyre::pipe_descriptors ends = gyre::open_pipe();
  const auto open = [&] { file_ = gyre::fs::file::from_fd(ends.reader.release(), "pipe"); };
  expect_stop_in_await(open, [&] { return file_->read_some(std::span(room)); }, elsewhere("read_some", "a file"));
}

TEST_F(other_loop_files_death, a_sync_a_resize_a_stat_or_a_close_stops_the_program) {
  expect_stop_of_file([&] { return file_->sync(); }, "sync");
  expect_stop_of_file([&] { return file_->resize(1); }, "resize");
  expect_stop_of_file([&] { return file_->stat(); }, "stat");
  expect_stop_of_file([&] { return file_->close(); }, "close");
}

TEST_F(other_loop_files_death, a_read_or_a_write_without_a_wait_stops_a_debug_build) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  expect_stop_of_file([&] { return file_->read_some(std::span(room)); }, "read_some");
  expect_stop_of_file([&] { return file_->write_all("x"); }, "write_all");
}

TEST_F(other_loop_files_death, the_end_of_a_file_stops_the_program) {
  expect_stop([&] { file_ = zero(); }, [&] { file_.reset(); }, "a file was destroyed on the thread of another loop");
}

TEST_F(other_loop_files_death, a_watcher_stops_the_program) {
  const auto make = [&] { watcher_.emplace(); };
  expect_stop_in_await(make, [&]() -> task<> { co_await watcher_->watch("/"); }, elsewhere("watch", "a file"));
  expect_stop_in_await(
      make, [&]() -> task<> { (void)co_await watcher_->read_some(); }, elsewhere("read_some", "a file"));
}

TEST(other_loop_files, belong_to_the_loop_that_uses_them_when_they_were_opened_without_one) {
  gyre::fs::file file = zero();
  gyre::run([&]() -> task<> {
    gyre::fs::file mine = std::move(file);
    EXPECT_EQ(co_await mine.read_some(std::span(room)), room.size());
  });
}

TEST(other_loop_files, belong_to_the_next_loop_that_uses_them_when_they_outlive_their_own) {
  gyre::pipe_descriptors ends = gyre::open_pipe();
  std::optional<gyre::fs::file> reader(gyre::fs::file::from_fd(ends.reader.release(), "pipe"));
  const int writer = ends.writer.get();
  const auto read = [&](bool last) {
    gyre::run([&, last]() -> task<> {
      auto reading = gyre::spawn([&]() -> task<> { EXPECT_EQ(co_await reader->read_some(std::span(room)), 1U); });
      co_await gyre::yield();  // it waits
      EXPECT_EQ(::write(writer, "x", 1), 1);
      co_await reading;
      if (last) reader.reset();
    });
  };
  read(false);
  read(false);
  std::thread([&] { read(true); }).join();
}
