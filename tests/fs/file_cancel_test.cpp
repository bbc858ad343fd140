// tests/fs/file_cancel_test.cpp: cancels before, during and after an operation, and a shutdown during one.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/cancels.hpp"

#include <array>
#include <atomic>

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;
using gyre::testing::open_descriptors;
namespace fs = gyre::fs;

namespace {

/// Keeps every thread of the pool busy, so that operations that need one are queued.
class busy_pool {
 public:
  busy_pool() {
    for (auto& each : jobs_) {
      each.owner = this;
      each.run = [](gyre::io::blocking_job& job) noexcept {
        auto& self = *static_cast<blocked&>(job).owner;
        while (!self.released_) ::usleep(200);
        ++self.ended_;
      };
      gyre::io::blocking_pool::for_files().submit(each);
    }
  }
  busy_pool(const busy_pool&) = delete;
  busy_pool& operator=(const busy_pool&) = delete;
  ~busy_pool() {
    released_ = true;
    while (ended_ < jobs_.size()) ::usleep(200);
  }

 private:
  struct blocked : gyre::io::blocking_job {
    busy_pool* owner = nullptr;
  };
  std::array<blocked, 64> jobs_;  // more than there are threads
  std::atomic<bool> released_{false};
  std::atomic<std::size_t> ended_{0};
};

}  // namespace

TEST(file_cancel, leaves_no_descriptor_when_it_meets_an_open_anywhere) {
  const scratch dir;
  auto scenario = [&]() -> gyre::task<> {
    fs::file made = co_await fs::file::open(dir.path("a"), fs::for_writing);
    co_await made.write_all("text");
    fs::file opened = co_await fs::file::open(dir.path("a"));
    std::array<std::byte, 4> buffer;
    co_await opened.read_exactly(buffer);
    co_await opened.close();
  };
  const auto report = cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 3U);
  EXPECT_GT(report.completed, 0U);
}

TEST(file_cancel, leaves_a_written_prefix_and_the_position_after_it_when_it_meets_a_write_anywhere) {
  const scratch dir;
  const auto bytes = pattern(200'000);
  const std::string whole = text_of(bytes);
  std::uint64_t position = 0;
  auto scenario = [&]() -> gyre::task<> {
    position = 0;
    std::error_code ignored;
    std::filesystem::remove(dir.path("a"), ignored);
    fs::file f = co_await fs::file::open(dir.path("a"), fs::for_writing);
    const gyre::scope_exit note([&]() noexcept { position = f.position(); });
    for (std::size_t at = 0; at < bytes.size(); at += 50'000) {
      co_await f.write_all(std::span(bytes).subspan(at, 50'000));
      co_await gyre::yield();
    }
  };
  const auto report = cancel_at_every_await(scenario, [&](bool was_cancelled) {
    const std::string found = dir.has("a") ? dir.get("a") : "";
    EXPECT_EQ(found, whole.substr(0, found.size()));
    EXPECT_EQ(found.size(), position);
    if (!was_cancelled) EXPECT_EQ(found.size(), whole.size());
  });
  EXPECT_GT(report.cancelled, 4U);
}

TEST(file_cancel, leaves_the_position_where_it_was_when_it_meets_a_read_exactly_anywhere) {
  const scratch dir;
  const auto bytes = pattern(600'000);
  const std::string path = dir.put("a", text_of(bytes));
  auto scenario = [&]() -> gyre::task<> {
    forget_cached(path);
    fs::file f = co_await fs::file::open(path);
    std::vector<std::byte> buffer(300'000);
    std::uint64_t expected = 0;
    const gyre::scope_exit check([&]() noexcept { EXPECT_EQ(f.position(), expected); });
    for (int i = 0; i < 2; ++i) {
      co_await f.read_exactly(buffer);
      EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), bytes.begin() + i * 300'000));
      expected += buffer.size();
    }
  };
  const auto report = cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 2U);
  EXPECT_GT(report.completed, 0U);
}

TEST(file_cancel, lets_nothing_begin_in_its_scope) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    auto body = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      co_await fs::create_directory(dir.path("d"));
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_FALSE(dir.has("d"));
  });
}

TEST(file_cancel, does_not_end_a_close) {
  const std::size_t before = open_descriptors();
  run_test([before]() -> gyre::task<> {
    const scratch dir;
    const std::size_t with_loop = open_descriptors();
    bool closed = false;
    fs::file f = co_await fs::file::open(dir.path("a"), fs::for_writing);
    auto body = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      co_await f.close();
      closed = true;
      EXPECT_EQ(open_descriptors(), with_loop);
    };
    (void)co_await is_cancelled_after(5ms, body);
    EXPECT_TRUE(closed);
    EXPECT_GE(with_loop, before);
  });
}

TEST(file, is_closed_by_a_close_that_is_not_awaited) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::size_t before = open_descriptors();
    fs::file f = co_await fs::file::open(dir.path("a"), fs::for_writing);
    {
      [[maybe_unused]] const auto never = f.close();
    }
    EXPECT_EQ(open_descriptors(), before);
    co_await f.close();  // no effect, it is closed already
  });
}

TEST(file_cancel, ends_an_operation_that_waits_for_a_thread_at_once) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "0123456789");
    const busy_pool busy;
    const auto outcome = co_await gyre::as_expected(gyre::timeout(5ms, f.resize(4)));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    EXPECT_EQ(dir.get("a"), "0123456789");
  });
}

TEST(file_cancel, loses_against_a_result_that_came_before) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    dir.put("a", "0123456789");
    std::size_t size = 0;
    auto body = [&]() -> gyre::task<> {
      const fs::status known = co_await fs::stat(dir.path("a"));
      size = known.size;
    };
    auto handle = gyre::spawn(body);
    co_await gyre::yield();                                   // it has begun
    for (int i = 0; i < 50 && size == 0; ++i) ::usleep(100);  // it ends, but its result has not been collected
    const bool cancelled = co_await cancel_and_wait(handle);
    EXPECT_EQ(size, cancelled ? 0U : 10U);
  });
}

TEST(file_cancel, by_the_end_of_a_loop_ends_its_operations) {
  const scratch dir;
  const std::string path = dir.put("a", std::string(3'000'000, 'x'));
  const std::size_t before = open_descriptors();
  for (int turns = 0; turns < 12; ++turns) {
    forget_cached(path);
    std::vector<std::byte> buffer(3'000'000);
    {
      gyre::event_loop loop;
      auto read = [&]() -> gyre::task<> {
        fs::file f = co_await fs::file::open(path, {.read = true, .write = true});
        co_await f.read_at(buffer, 0);
        co_await f.sync();
        co_await f.resize(3'000'000);
      };
      auto wait = [&]() -> gyre::task<> {
        file_pair ends = make_pipe();
        std::array<std::byte, 8> some;
        co_await ends.reader.read_some(some);
      };
      auto one = gyre::spawn(read);
      auto two = gyre::spawn(wait);
      for (int i = 0; i < turns; ++i) loop.turn(false);
      loop.shutdown();
      EXPECT_TRUE(one.done());
      EXPECT_TRUE(two.done());
    }
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST(virtual_time, stands_still_while_files_are_read_and_written) {
  gyre::event_loop loop({.backend = {}, .virtual_time = true});
  const scratch dir;
  const std::string path = dir.put("a", std::string(100, 'x'));
  auto body = [&]() -> gyre::task<> {
    fs::file f = co_await fs::file::open(path, {.read = true, .write = true});
    for (int i = 0; i < 5; ++i) {
      co_await f.write_at("y", 0);
      co_await gyre::timeout(30s, f.sync());
    }
  };
  auto handle = gyre::spawn(body);
  while (!handle.done()) loop.turn(true);
  EXPECT_NO_THROW(handle.result());
}
