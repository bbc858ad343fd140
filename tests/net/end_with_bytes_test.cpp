// tests/net/end_with_bytes_test.cpp: an end of stream that arrives together with the last bytes, before either has been
// processed.
#include <gyre/net/socket_state.hpp>

#include "tests/net/connected_pair.hpp"

#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre_test;

namespace {

enum class leaves : bool { in_order, by_reset };
enum class first : bool { words, wait };  // which came first

/// Writes and leaves in one turn of the loop, so that the other end finds both at the same time.
template <class Stream>
void say_and_leave(Stream& stream, std::string_view words, leaves how) {
  const int fd = stream.native_descriptor();
  EXPECT_EQ(::send(fd, words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  if (how == leaves::by_reset) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  stream = Stream();
}

template <class Stream>
gyre::task<std::string> received_text(Stream& stream) {
  const gyre::buffer_lease lease = co_await stream.receive();
  co_return std::string(lease.text());
}

struct end_event : gyre::end_watch {
  end_event() {
    gyre::end_watch::ended = [](gyre::end_watch& w) noexcept { static_cast<end_event&>(w).happened.set(); };
  }
  gyre::event happened;
};

/// Receives the last words with an armed receive, and then runs `go_on` to see how the stream ends.
template <class Stream, class GoOn>
gyre::task<std::string> hear_out(Stream here, Stream there, first what, leaves how, GoOn go_on) {
  if (what == first::words) say_and_leave(there, "last words", how);
  auto waiting = gyre::spawn(received_text(here));
  if (what == first::wait) {
    co_await settle();
    say_and_leave(there, "last words", how);
  }
  const std::string words = co_await waiting;
  EXPECT_EQ(words, "last words");
  auto next = go_on(here);
  auto limited = gyre::timeout(5s, std::move(next));
  const std::string error = co_await error_of(std::move(limited));
  co_await here.close();
  co_return error;
}

template <class GoOn>
std::string hear_out_tcp(first what, leaves how, GoOn go_on) {
  std::string error;
  run_test([&]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    error = co_await hear_out(std::move(pair.server), std::move(pair.client), what, how, go_on);
  });
  return error;
}

template <class GoOn>
std::string hear_out_unix(first what, GoOn go_on) {
  std::string error;
  run_test([&]() -> gyre::task<> {
    int ends[2];
    const int made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    EXPECT_EQ(made, 0);
    auto here = gyre::unix_stream::from_fd(ends[0]);
    auto there = gyre::unix_stream::from_fd(ends[1]);
    error = co_await hear_out(std::move(here), std::move(there), what, leaves::in_order, go_on);
  });
  return error;
}

constexpr auto receives = [](auto& stream) -> gyre::task<> {
  const gyre::buffer_lease lease = co_await stream.receive();
  EXPECT_TRUE(lease.empty());
};
constexpr auto reads = [](auto& stream) -> gyre::task<> {
  std::array<std::byte, 100> buffer{};
  const std::size_t n = co_await stream.read_some(buffer);
  EXPECT_EQ(n, 0U);
};
constexpr auto watches = [](auto& stream) -> gyre::task<> {
  end_event watch;
  stream.socket().watch_end(&watch);
  try {
    co_await watch.happened.wait();
  } catch (...) {
    stream.socket().watch_end(nullptr);
    throw;
  }
};

constexpr auto fails_to_write_and_receives = [](auto& stream) -> gyre::task<> {
  const std::string error = co_await error_of(stream.write_all("x"));
  EXPECT_NE(error, "");
  (void)co_await gyre::as_result(received_text(stream));  // an error, or the end if the write has consumed the error
};

class end_with_bytes : public testing::TestWithParam<first> {
 protected:
  template <class GoOn>
  void expect_reset(GoOn go_on) {
    const std::string error = hear_out_tcp(GetParam(), leaves::by_reset, go_on);
    EXPECT_NE(error.find("Connection reset by peer"), std::string::npos) << error;
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(, end_with_bytes, testing::Values(first::words, first::wait), [](const auto& each) {
  return each.param == first::words ? "before_the_wait" : "during_the_wait";
});

TEST_P(end_with_bytes, by_reset_ends_a_receive) { expect_reset(receives); }
TEST_P(end_with_bytes, by_reset_ends_a_read) { expect_reset(reads); }
TEST_P(end_with_bytes, by_reset_ends_a_receive_behind_a_write_that_failed) {
  EXPECT_EQ(hear_out_tcp(GetParam(), leaves::by_reset, fails_to_write_and_receives), "");
}
TEST_P(end_with_bytes, by_reset_is_reported_to_the_watcher_of_the_end) {
  EXPECT_EQ(hear_out_tcp(GetParam(), leaves::by_reset, watches), "");
}

TEST_P(end_with_bytes, ends_a_receive) { EXPECT_EQ(hear_out_tcp(GetParam(), leaves::in_order, receives), ""); }
TEST_P(end_with_bytes, ends_a_read) { EXPECT_EQ(hear_out_tcp(GetParam(), leaves::in_order, reads), ""); }
TEST_P(end_with_bytes, is_reported_to_the_watcher_of_the_end) {
  EXPECT_EQ(hear_out_tcp(GetParam(), leaves::in_order, watches), "");
}

TEST_P(end_with_bytes, on_a_unix_socket_ends_a_receive) { EXPECT_EQ(hear_out_unix(GetParam(), receives), ""); }
TEST_P(end_with_bytes, on_a_unix_socket_ends_a_read) { EXPECT_EQ(hear_out_unix(GetParam(), reads), ""); }
TEST_P(end_with_bytes, on_a_unix_socket_is_reported_to_the_watcher_of_the_end) {
  EXPECT_EQ(hear_out_unix(GetParam(), watches), "");
}
