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

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

using namespace std::chrono_literals;

namespace {

/// Two ends of a Unix connection.
struct ends {
  int first = -1;
  int second = -1;

  ends() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    first = pair[0];
    second = pair[1];
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  ~ends() {
    ::close(first);
    close_second();
  }
  void say(const std::string& text) const {
    EXPECT_EQ(::write(second, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_second() {
    if (second >= 0) ::close(second);
    second = -1;
  }
};

gyre::task<> wait_and_count(int fd, int& count) {
  co_await gyre::readable(fd);
  ++count;
}

void fill(int fd) {
  const std::string much(65536, 'x');
  while (::send(fd, much.data(), much.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

TEST(readiness, a_descriptor_that_has_bytes_is_readable_at_once) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    pair.say("x");
    co_await gyre::readable(pair.first);
  });
}

TEST(readiness, readable_waits_for_bytes) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    int count = 0;
    auto waiting = gyre::spawn(wait_and_count(pair.first, count));
    co_await gyre::sleep(1ms);
    EXPECT_EQ(count, 0);
    pair.say("x");
    co_await waiting;
    EXPECT_EQ(count, 1);
  });
}

TEST(readiness, it_is_level_triggered_what_was_not_read_is_told_again) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    pair.say("x");
    for (int i = 0; i < 3; ++i) co_await gyre::readable(pair.first);
  });
}

TEST(readiness, several_tasks_wait_for_one_descriptor) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    int count = 0;
    auto a = gyre::spawn(wait_and_count(pair.first, count));
    auto b = gyre::spawn(wait_and_count(pair.first, count));
    auto c = gyre::spawn(wait_and_count(pair.first, count));
    co_await gyre::sleep(1ms);
    pair.say("x");
    co_await a;
    co_await b;
    co_await c;
    EXPECT_EQ(count, 3);
  });
}

TEST(readiness, the_end_of_the_stream_is_readable) {
  gyre::testing::run_test([]() -> gyre::task<> {
    ends pair;
    int count = 0;
    auto waiting = gyre::spawn(wait_and_count(pair.first, count));
    co_await gyre::sleep(1ms);
    pair.close_second();
    co_await waiting;
  });
}

TEST(readiness, writable_waits_until_there_is_room) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    co_await gyre::writable(pair.first);
    fill(pair.first);
    bool ready = false;
    auto waiting = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::writable(pair.first);
      ready = true;
    });
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(ready);
    std::string buffer(1 << 20, ' ');
    while (::recv(pair.second, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
    }
    co_await waiting;
    EXPECT_TRUE(ready);
  });
}

TEST(readiness, a_reader_and_a_writer_wait_for_one_descriptor) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    fill(pair.first);
    int count = 0;
    auto reads = gyre::spawn(wait_and_count(pair.first, count));
    auto writes = gyre::spawn([&]() -> gyre::task<> { co_await gyre::writable(pair.first); });
    co_await gyre::sleep(1ms);
    pair.say("x");
    co_await reads;
    EXPECT_FALSE(writes.done());
    pair.say("");
    std::string buffer(1 << 20, ' ');
    while (::recv(pair.second, buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
    }
    co_await writes;
  });
}

TEST(readiness, a_time_out_ends_the_wait_and_leaves_the_descriptor_alone) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const ends pair;
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, gyre::readable(pair.first)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    pair.say("x");
    co_await gyre::readable(pair.first);
  });
}

TEST(readiness, a_closed_descriptor_is_an_error_that_names_it) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const int gone = ::dup(0);
    ::close(gone);
    std::string text;
    try {
      co_await gyre::readable(gone);
    } catch (const gyre::io_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "readable " + std::to_string(gone) + ": Bad file descriptor");
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
  const ends pair;
  const auto report = gyre::testing::cancel_at_every_await(
      [&]() -> gyre::task<> {
        int count = 0;
        auto a = wait_and_count(pair.first, count);
        auto b = wait_and_count(pair.first, count);
        auto speaker = [](const ends& to) -> gyre::task<> {
          co_await gyre::sleep(1ms);
          to.say("x");
        }(pair);
        co_await gyre::gather(std::move(a), std::move(b), std::move(speaker));
      },
      [&](bool) {
        char rest[64];
        while (::recv(pair.first, rest, sizeof(rest), MSG_DONTWAIT) > 0) {
        }
      },
      {.backend = {}, .virtual_time = true});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
