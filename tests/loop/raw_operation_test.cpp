// tests/loop/raw_operation_test.cpp: ring operations that were filled in by hand.
#include <gyre/loop/raw_operation.hpp>

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/contract/sockets.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace uring = gyre::uring;
using namespace std::chrono_literals;

namespace {

bool on_a_ring() { return gyre::event_loop::current().backend().name() == "io_uring"; }

/// A task that runs where there is a ring.
void run_on_a_ring(gyre_test::body_ref<> body) {
  gyre::testing::run_test([&]() -> gyre::task<> {
    if (on_a_ring()) co_await body();
  });
}

gyre::contract::connection new_pipe(int flags = 0) {
  int ends[2];
  gyre::contract::checked(::pipe2(ends, O_CLOEXEC | flags), "pipe2");
  return {gyre::owned_fd(ends[0]), gyre::owned_fd(ends[1])};
}

}  // namespace

TEST(raw_operation, says_that_it_is_not_supported_where_there_is_no_ring) {
  gyre::testing::run_test([]() -> gyre::task<> {
    if (on_a_ring()) co_return;
    uring::submission entry;
    uring::prepare_nop(entry);
    const auto outcome = co_await gyre::as_expected(gyre::raw_operation(entry));
    EXPECT_EQ(outcome.error(), std::errc::operation_not_supported);
  });
}

TEST(raw_operation, an_entry_is_performed_and_its_result_given) {
  run_on_a_ring([]() -> gyre::task<> {
    const auto pipe = new_pipe();
    EXPECT_EQ(::write(pipe.peer.get(), "hello", 5), 5);
    std::array<char, 16> buffer{};
    uring::submission entry;
    uring::prepare_read(entry, pipe.ours.get(), buffer.data(), buffer.size(), 0);
    const auto outcome = co_await gyre::raw_operation(entry);
    EXPECT_EQ(outcome.value, 5);
    EXPECT_EQ(std::string_view(buffer.data(), 5), "hello");
  });
}

TEST(raw_operation, an_error_is_thrown_with_its_reason) {
  run_on_a_ring([]() -> gyre::task<> {
    uring::submission entry;
    uring::prepare_fsync(entry, -1);
    EXPECT_EQ(co_await gyre_test::error_of(gyre::raw_operation(entry)), "raw_operation: Bad file descriptor");
  });
}

TEST(raw_operation, splice_moves_bytes_between_pipes) {
  run_on_a_ring([]() -> gyre::task<> {
    const auto from = new_pipe();
    const auto to = new_pipe();
    EXPECT_EQ(::write(from.peer.get(), "hello", 5), 5);
    uring::submission entry;
    uring::prepare_splice(entry, from.ours.get(), -1, to.peer.get(), -1, 64, 0);
    const auto moved = co_await gyre::raw_operation(entry);
    EXPECT_EQ(moved.value, 5);
  });
}

TEST(raw_operation, a_multishot_tells_each_result_until_it_is_cancelled) {
  run_on_a_ring([]() -> gyre::task<> {
    const auto pipe = new_pipe(O_NONBLOCK);
    std::vector<int> events;
    auto waiting = gyre::spawn([&]() -> gyre::task<> {
      uring::submission entry;
      uring::prepare_poll_multishot(entry, pipe.ours.get(), POLLIN);
      const auto remember = [&](gyre::raw_result r) { events.push_back(r.value); };
      (void)co_await gyre::raw_operation(entry, remember);
    });
    for (std::size_t i = 1; i <= 3; ++i) {
      EXPECT_EQ(::write(pipe.peer.get(), "x", 1), 1);
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
  run_on_a_ring([]() -> gyre::task<> {
    const auto pair = gyre::contract::tcp_connection();
    const std::string text(4096, 'z');
    uring::submission entry;
    uring::prepare(entry, uring::opcode::send_zc, pair.ours.get(), text.data(), 4096);
    std::string heard;
    auto sent = gyre::spawn([&]() -> gyre::task<int> { co_return (co_await gyre::raw_operation(entry)).value; });
    while (heard.size() < text.size()) {
      co_await gyre::yield();
      heard += gyre::contract::received_by(pair.peer);
    }
    const int value = co_await sent;
    EXPECT_EQ(value, 4096);
    EXPECT_EQ(heard, text);
  });
}

TEST(raw_operation, a_time_out_cancels_it_in_the_kernel) {
  run_on_a_ring([]() -> gyre::task<> {
    const auto pipe = new_pipe();
    std::array<char, 4> buffer{};
    uring::submission entry;
    uring::prepare_read(entry, pipe.ours.get(), buffer.data(), buffer.size(), 0);
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
