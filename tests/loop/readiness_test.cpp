// tests/loop/readiness_test.cpp: waiting until a foreign descriptor can be read or written.
#include <gyre/loop/readiness.hpp>

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/contract/sockets.hpp"
#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace std::chrono_literals;
using namespace gyre::contract;

namespace {

gyre::task<> wait_and_count(int fd, int& count) {
  co_await gyre::readable(fd);
  ++count;
}

}  // namespace

TEST(readiness, a_descriptor_that_has_bytes_is_readable_at_once) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    say(pair.peer, "x");
    co_await gyre::readable(pair.ours.get());
  });
}

TEST(readiness, readable_waits_for_bytes) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    int count = 0;
    auto waiting = gyre::spawn(wait_and_count(pair.ours.get(), count));
    co_await gyre::sleep(1ms);
    EXPECT_EQ(count, 0);
    say(pair.peer, "x");
    co_await waiting;
    EXPECT_EQ(count, 1);
  });
}

TEST(readiness, it_is_level_triggered_what_was_not_read_is_told_again) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    say(pair.peer, "x");
    for (int i = 0; i < 3; ++i) co_await gyre::readable(pair.ours.get());
  });
}

TEST(readiness, several_tasks_wait_for_one_descriptor) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    int count = 0;
    auto a = gyre::spawn(wait_and_count(pair.ours.get(), count));
    auto b = gyre::spawn(wait_and_count(pair.ours.get(), count));
    auto c = gyre::spawn(wait_and_count(pair.ours.get(), count));
    co_await gyre::sleep(1ms);
    say(pair.peer, "x");
    co_await a;
    co_await b;
    co_await c;
    EXPECT_EQ(count, 3);
  });
}

TEST(readiness, the_end_of_the_stream_is_readable) {
  gyre::testing::run_test([]() -> gyre::task<> {
    connection pair = unix_connection();
    int count = 0;
    auto waiting = gyre::spawn(wait_and_count(pair.ours.get(), count));
    co_await gyre::sleep(1ms);
    pair.peer.close();
    co_await waiting;
  });
}

TEST(readiness, writable_waits_until_there_is_room) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    co_await gyre::writable(pair.ours.get());
    fill(pair.ours);
    bool ready = false;
    auto waiting = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::writable(pair.ours.get());
      ready = true;
    });
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(ready);
    (void)received_by(pair.peer);
    co_await waiting;
    EXPECT_TRUE(ready);
  });
}

TEST(readiness, a_reader_and_a_writer_wait_for_one_descriptor) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    fill(pair.ours);
    int count = 0;
    auto reads = gyre::spawn(wait_and_count(pair.ours.get(), count));
    auto writes = gyre::spawn([&]() -> gyre::task<> { co_await gyre::writable(pair.ours.get()); });
    co_await gyre::sleep(1ms);
    say(pair.peer, "x");
    co_await reads;
    EXPECT_FALSE(writes.done());
    (void)received_by(pair.peer);
    co_await writes;
  });
}

TEST(readiness, a_time_out_ends_the_wait_and_leaves_the_descriptor_alone) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const connection pair = unix_connection();
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, gyre::readable(pair.ours.get())));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    say(pair.peer, "x");
    co_await gyre::readable(pair.ours.get());
  });
}

TEST(readiness, a_closed_descriptor_is_an_error_that_names_it) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const int gone = ::dup(0);
    ::close(gone);
    EXPECT_EQ(co_await gyre_test::error_of(gyre::readable(gone)),
              "readable " + std::to_string(gone) + ": Bad file descriptor");
  });
}

TEST(readiness, a_regular_file_is_always_ready) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    co_await gyre::readable(fd);
    ::close(fd);
  });
}

TEST(readiness, a_cancel_anywhere_leaves_nothing_behind) {
  const connection pair = unix_connection();
  const auto report = gyre::testing::cancel_at_every_await(
      [&]() -> gyre::task<> {
        int count = 0;
        auto a = wait_and_count(pair.ours.get(), count);
        auto b = wait_and_count(pair.ours.get(), count);
        auto speaker = [](const connection& to) -> gyre::task<> {
          co_await gyre::sleep(1ms);
          say(to.peer, "x");
        }(pair);
        co_await gyre::gather(std::move(a), std::move(b), std::move(speaker));
      },
      [&](bool) { (void)received_by(pair.ours); }, {.backend = {}, .virtual_time = true});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
