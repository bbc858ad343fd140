// tests/net/descriptor_passing_test.cpp: passing descriptors over a Unix socket.
#include <gyre/net/descriptor_passing.hpp>

#include <gyre/net/unix_stream.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/connected_pair.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <limits>

using namespace gyre_test;

namespace {

/// The read end of a pipe that holds `text`.
gyre::owned_fd pipe_with(const std::string& text) {
  int at[2];
  EXPECT_EQ(::pipe2(at, O_CLOEXEC), 0);
  EXPECT_EQ(::write(at[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(at[1]);
  return gyre::owned_fd(at[0]);
}

std::string content(const gyre::owned_fd& pipe) {
  std::array<char, 64> buffer{};
  const auto n = ::read(pipe.get(), buffer.data(), buffer.size());
  return {buffer.data(), static_cast<std::size_t>(n < 0 ? 0 : n)};
}

gyre::task<> send_with_descriptor(gyre::unix_stream& to, std::string_view bytes, const gyre::owned_fd& descriptor) {
  const std::array<int, 1> all{descriptor.get()};
  co_await to.send_descriptors(bytes_of(bytes), all);
}

}  // namespace

TEST(descriptor_passing, a_descriptor_arrives_with_the_bytes_it_was_sent_with) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    const gyre::owned_fd pipe = pipe_with("inside");
    co_await send_with_descriptor(pair.first, "take this", pipe);
    std::array<std::byte, 64> buffer{};
    const auto came = co_await pair.second.receive_descriptors(buffer);
    EXPECT_EQ(text_of(std::span(buffer).first(came.size)), "take this");
    EXPECT_EQ(came.descriptors.size(), 1U);
    EXPECT_EQ(content(came.descriptors.at(0)), "inside");
    EXPECT_EQ(::fcntl(came.descriptors.at(0).get(), F_GETFD), FD_CLOEXEC);
  });
}

TEST(descriptor_passing, the_receiver_waits_and_gets_as_many_as_may_be_passed) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    auto receiving = gyre::spawn([&]() -> gyre::task<std::size_t> {
      std::array<std::byte, 64> buffer{};
      const auto came = co_await pair.second.receive_descriptors(buffer);
      co_return came.descriptors.size();
    });
    co_await settle();
    const gyre::owned_fd pipe = pipe_with("x");
    const std::vector<int> many(gyre::max_passed_descriptors, pipe.get());
    co_await pair.first.send_descriptors(bytes_of("x"), many);
    const std::size_t count = co_await receiving;
    EXPECT_EQ(count, gyre::max_passed_descriptors);
  });
}

TEST(descriptor_passing, bytes_without_descriptors_come_as_they_are) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    co_await pair.first.write_all("plain");
    std::array<std::byte, 64> buffer{};
    const auto came = co_await pair.second.receive_descriptors(buffer);
    EXPECT_EQ(came.size, 5U);
    EXPECT_TRUE(came.descriptors.empty());
    co_await pair.first.close();
    const auto end = co_await pair.second.receive_descriptors(buffer);
    EXPECT_EQ(end.size, 0U);
  });
}

TEST(descriptor_passing, a_long_message_sends_them_once_and_all_of_its_bytes) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    const std::vector<std::byte> bytes = pattern(1 << 20);
    const gyre::owned_fd pipe = pipe_with("x");
    auto sending = gyre::spawn([&]() -> gyre::task<> {
      const std::array<int, 1> all{pipe.get()};
      co_await pair.first.send_descriptors(bytes, all);
      co_await pair.first.close();
    });
    std::vector<std::byte> heard;
    std::size_t descriptors = 0;
    std::vector<std::byte> buffer(65536);
    for (;;) {
      const auto came = co_await pair.second.receive_descriptors(buffer);
      if (came.size == 0) break;
      heard.insert(heard.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(came.size));
      descriptors += came.descriptors.size();
    }
    co_await sending;
    EXPECT_EQ(heard, bytes);
    EXPECT_EQ(descriptors, 1U);
  });
}

TEST(descriptor_passing, refuses_messages_that_cannot_be_sent) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    const std::vector<int> none;
    const std::vector<int> one(1, 0);
    const std::vector<int> too_many(gyre::max_passed_descriptors + 1, 0);
    const auto without_byte = co_await gyre::as_expected(pair.first.send_descriptors(bytes_of(""), one));
    EXPECT_EQ(without_byte.error(), std::errc::invalid_argument);
    const auto without = co_await gyre::as_expected(pair.first.send_descriptors(bytes_of("x"), none));
    EXPECT_EQ(without.error(), std::errc::invalid_argument);
    const auto many = co_await gyre::as_expected(pair.first.send_descriptors(bytes_of("x"), too_many));
    EXPECT_EQ(many.error(), std::errc::invalid_argument);
    const std::vector<int> closed(1, 1'000'000);
    const std::string text = co_await error_of(pair.first.send_descriptors(bytes_of("x"), closed));
    EXPECT_EQ(text, "write_all: Bad file descriptor");
  });
}

TEST(descriptor_passing, closes_all_and_keeps_the_bytes_when_no_number_is_free) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    const gyre::owned_fd pipe = pipe_with("x");
    co_await send_with_descriptor(pair.first, "bytes", pipe);
    rlimit before{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    std::array<std::byte, 64> buffer{};
    const auto outcome = co_await gyre::as_expected(pair.second.receive_descriptors(buffer));
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(code_of(outcome), std::errc::too_many_files_open);
    const std::size_t n = co_await pair.second.read_some(buffer);
    EXPECT_EQ(text_of(std::span(buffer).first(n)), "bytes");
  });
}

TEST(descriptor_passing, after_receive_it_is_refused) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    const auto late = co_await gyre::as_expected(gyre::timeout(1ms, pair.second.receive()));
    EXPECT_FALSE(late.has_value());
    std::array<std::byte, 64> buffer{};
    const auto outcome = co_await gyre::as_expected(pair.second.receive_descriptors(buffer));
    EXPECT_EQ(outcome.error(), std::errc::device_or_resource_busy);
  });
}

TEST(descriptor_passing, a_time_out_takes_nothing) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    std::array<std::byte, 64> buffer{};
    const auto late = co_await gyre::as_expected(gyre::timeout(2ms, pair.second.receive_descriptors(buffer)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    const gyre::owned_fd pipe = pipe_with("x");
    co_await send_with_descriptor(pair.first, "late", pipe);
    const auto came = co_await pair.second.receive_descriptors(buffer);
    EXPECT_EQ(came.descriptors.size(), 1U);
  });
}

TEST(descriptor_passing, a_cancel_anywhere_leaks_no_descriptor) {
  const auto receive_one = [](gyre::unix_stream& from) -> gyre::task<> {
    std::array<std::byte, 64> buffer{};
    const auto came = co_await from.receive_descriptors(buffer);
    EXPECT_EQ(came.descriptors.size(), 1U);
  };
  const auto send_one = [](gyre::unix_stream& to) -> gyre::task<> {
    const gyre::owned_fd pipe = pipe_with("x");
    co_await gyre::yield();
    co_await send_with_descriptor(to, "bytes", pipe);
  };
  const auto report = gyre::testing::cancel_at_every_await(
      [&]() -> gyre::task<> {
        auto pair = gyre::unix_stream::pair();
        co_await gyre::gather(receive_one(pair.second), send_one(pair.first));
      },
      [](bool) {});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
