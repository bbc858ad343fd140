// tests/loop/raw_operation_test.cpp: ring operations that were filled in by hand.
#include <gyre/loop/raw_operation.hpp>

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace uring = gyre::uring;
using namespace std::chrono_literals;

namespace {

bool on_a_ring() { return gyre::event_loop::current().backend().name() == "io_uring"; }

struct descriptors {
  std::array<int, 2> at{-1, -1};
  descriptors() = default;
  descriptors(const descriptors&) = delete;
  descriptors& operator=(const descriptors&) = delete;
  ~descriptors() {
    for (const int fd : at) ::close(fd);
  }
};

}  // namespace

TEST(raw_operation, without_a_ring_it_says_that_it_is_not_supported) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (on_a_ring()) co_return;
    uring::submission entry;
    uring::prepare_nop(entry);
    const auto outcome = co_await gyre::as_expected(gyre::raw_operation(entry));
    EXPECT_EQ(outcome.error(), std::errc::operation_not_supported);
  });
}

TEST(raw_operation, an_entry_is_performed_and_its_result_given) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    descriptors pipe;
    EXPECT_EQ(::pipe2(pipe.at.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::write(pipe.at[1], "hello", 5), 5);
    std::array<char, 16> buffer{};
    uring::submission entry;
    uring::prepare_read(entry, pipe.at[0], buffer.data(), buffer.size(), 0);
    const auto outcome = co_await gyre::raw_operation(entry);
    EXPECT_EQ(outcome.value, 5);
    EXPECT_EQ(std::string_view(buffer.data(), 5), "hello");
  });
}

TEST(raw_operation, an_error_is_thrown_with_its_reason) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    uring::submission entry;
    uring::prepare_fsync(entry, -1);
    std::string text;
    try {
      (void)co_await gyre::raw_operation(entry);
    } catch (const gyre::io_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "raw_operation: Bad file descriptor");
  });
}

TEST(raw_operation, splice_moves_bytes_between_pipes) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    descriptors from;
    descriptors to;
    EXPECT_EQ(::pipe2(from.at.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(to.at.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::write(from.at[1], "hello", 5), 5);
    uring::submission entry;
    uring::prepare_splice(entry, from.at[0], -1, to.at[1], -1, 64, 0);
    const auto moved = co_await gyre::raw_operation(entry);
    EXPECT_EQ(moved.value, 5);
  });
}

TEST(raw_operation, a_multishot_tells_each_result_until_it_is_cancelled) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    descriptors pipe;
    EXPECT_EQ(::pipe2(pipe.at.data(), O_CLOEXEC | O_NONBLOCK), 0);
    std::vector<int> events;
    auto waiting = gyre::spawn([&]() -> gyre::task<> {
      uring::submission entry;
      uring::prepare_poll_multishot(entry, pipe.at[0], POLLIN);
      const auto remember = [&](gyre::raw_result r) { events.push_back(r.value); };
      (void)co_await gyre::raw_operation(entry, remember);
    });
    for (std::size_t i = 1; i <= 3; ++i) {
      EXPECT_EQ(::write(pipe.at[1], "x", 1), 1);
      while (events.size() < i) co_await gyre::yield();
    }
    waiting.cancel();
    try {
      co_await waiting;
    } catch (const gyre::task_cancelled&) {
      events.push_back(0);
    }
    EXPECT_EQ(events, (std::vector<int>{POLLIN, POLLIN, POLLIN, 0}));
  });
}

TEST(raw_operation, a_send_without_copies_gives_its_count_after_the_buffer_is_free) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    descriptors pair;
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::listen(listening, 1), 0);
    sockaddr_storage where{};
    socklen_t size = sizeof(where);
    EXPECT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&where), &size), 0);
    pair.at[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(pair.at[0], reinterpret_cast<sockaddr*>(&where), size), 0);
    pair.at[1] = ::accept(listening, nullptr, nullptr);
    ::close(listening);
    const std::string text(4096, 'z');
    uring::submission entry;
    uring::prepare(entry, uring::opcode::send_zc, pair.at[0], text.data(), 4096);
    std::string heard(4096, ' ');
    auto sent = gyre::spawn([&]() -> gyre::task<int> { co_return (co_await gyre::raw_operation(entry)).value; });
    std::size_t count = 0;
    while (count < heard.size()) {
      co_await gyre::yield();
      const auto n = ::recv(pair.at[1], heard.data() + count, heard.size() - count, MSG_DONTWAIT);
      if (n > 0) count += static_cast<std::size_t>(n);
    }
    const int value = co_await sent;
    EXPECT_EQ(value, 4096);
    EXPECT_EQ(heard, text);
  });
}

TEST(raw_operation, a_time_out_cancels_it_in_the_kernel) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (!on_a_ring()) co_return;
    descriptors pipe;
    EXPECT_EQ(::pipe2(pipe.at.data(), O_CLOEXEC), 0);
    std::array<char, 4> buffer{};
    uring::submission entry;
    uring::prepare_read(entry, pipe.at[0], buffer.data(), buffer.size(), 0);
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, gyre::raw_operation(entry)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
  });
}

TEST(raw_operation, an_entry_that_is_tied_to_others_is_refused) {
  gyre::testing::run_test([]() -> gyre::task<> {
    for (const auto flag : {uring::sqe_io_link, uring::sqe_io_drain, uring::sqe_cqe_skip_success}) {
      uring::submission entry;
      uring::prepare_nop(entry);
      entry.flags = static_cast<std::uint8_t>(flag);
      const auto outcome = co_await gyre::as_expected(gyre::raw_operation(entry));
      EXPECT_EQ(outcome.error(), std::errc::invalid_argument);
    }
  });
}
