// tests/net/open_connection_test.cpp: asyncio's open_connection and start_server; happy eyeballs.
#include <gyre/net/open_connection.hpp>
#include <gyre/net/start_server.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <source_location>
#include <stdexcept>

using namespace gyre_test;

namespace {

gyre::task<> upper_case_server(gyre::stream_reader& reader, gyre::stream_writer& writer) {
  while (auto line = co_await reader.read_line()) {
    for (char& c : *line) c = static_cast<char>(std::toupper(c));
    writer.write(*line + "\n");
    co_await writer.drain();
  }
}

/// A listener whose backlog is full, so that a connect neither succeeds nor fails.
class full_listener {
 public:
  full_listener() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(local);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&local), size), 0);
    EXPECT_EQ(::listen(fd_, 0), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&local), &size);
    where = gyre::address::from_raw(&local, size);
    for (int& each : fillers_) {
      each = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      ::connect(each, reinterpret_cast<sockaddr*>(&local), size);
    }
  }
  ~full_listener() {
    for (const int each : fillers_) ::close(each);
    ::close(fd_);
  }
  full_listener(const full_listener&) = delete;
  gyre::address where;

 private:
  int fd_;
  int fillers_[4];
};

}  // namespace

TEST(open_connection, talks_to_start_server_line_by_line) {
  run_test([]() -> gyre::task<> {
    // The port comes from a previous bind, because start_server does not report its address.
    const gyre::address where = gyre::tcp_listener::bind(own_loopback()).local_address();
    auto server = gyre::spawn(gyre::start_server(upper_case_server, where.string()));
    co_await gyre::yield();
    co_await gyre::yield();
    auto connection = co_await gyre::open_connection(where.string());
    connection.writer.write("hello\nworld\n");
    EXPECT_EQ(co_await connection.reader.read_line(), "HELLO");
    EXPECT_EQ(co_await connection.reader.read_line(), "WORLD");
    co_await connection.writer.write_eof();
    EXPECT_EQ(co_await connection.reader.read_line(), std::nullopt);
    server.cancel();
    co_await server.wait();
  });
}

TEST(start_server, reports_a_time_out_of_its_handler) {
  run_test([]() -> gyre::task<> {
    const failure_log log;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto asks_in_vain = [](gyre::stream_reader&, gyre::stream_writer&) -> gyre::task<> {
      co_await gyre::timeout(1ms, gyre::sleep(1h));
    };
    auto server = gyre::spawn(gyre::start_server(asks_in_vain, listener));
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    EXPECT_EQ(co_await read_text_to_end(client), "");
    server.cancel();
    co_await server.wait();
    EXPECT_EQ(log.entries.size(), 1U);
  });
}

TEST(start_server, names_the_spawn_of_the_server_when_its_handler_fails) {
  run_test([]() -> gyre::task<> {
    const failure_log log;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto fails = [](gyre::stream_reader&, gyre::stream_writer&) -> gyre::task<> {
      throw std::runtime_error("a fault of the handler");
      co_return;
    };
    const unsigned line = std::source_location::current().line() + 1;
    auto server = gyre::spawn(gyre::start_server(fails, listener));
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    EXPECT_EQ(co_await read_text_to_end(client), "");
    server.cancel();
    co_await server.wait();
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].line, line);
  });
}

TEST(happy_eyeballs, families_take_turns_beginning_with_the_first) {
  const auto v4 = [](int n) { return gyre::address("10.0.0." + std::to_string(n) + ":80"); };
  const auto v6 = [](int n) { return gyre::address("[fe80::" + std::to_string(n) + "]:80"); };
  EXPECT_EQ(gyre::interleave_families({v6(1), v6(2), v6(3), v4(1), v4(2)}),
            (std::vector{v6(1), v4(1), v6(2), v4(2), v6(3)}));
  EXPECT_EQ(gyre::interleave_families({v4(1), v4(2), v6(1)}), (std::vector{v4(1), v6(1), v4(2)}));
  EXPECT_EQ(gyre::interleave_families({v4(1)}), (std::vector{v4(1)}));
}

TEST(happy_eyeballs, goes_on_at_once_when_an_address_refuses) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    const gyre::address nobody = gyre::tcp_listener::bind(own_loopback()).local_address();
    const auto begin = gyre::now();
    const std::vector<gyre::address> both = {nobody, listener.local_address()};
    const gyre::happy_eyeballs_options patient{.attempt_delay = 1h};
    auto stream = co_await gyre::connect_to_first(both, patient);
    EXPECT_EQ(stream.peer_address(), listener.local_address());
    EXPECT_LT(gyre::now() - begin, 10s);
  });
}

TEST(happy_eyeballs, goes_on_after_the_delay_when_an_address_says_nothing) {
  run_test([]() -> gyre::task<> {
    const full_listener silent;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const std::vector<gyre::address> both = {silent.where, listener.local_address()};
    const gyre::happy_eyeballs_options impatient{.attempt_delay = 5ms};
    auto stream = co_await gyre::connect_to_first(both, impatient);
    EXPECT_EQ(stream.peer_address(), listener.local_address());
  });
}

TEST(happy_eyeballs, when_all_fail_throws_what_the_first_said) {
  run_test([]() -> gyre::task<> {
    const gyre::address one = gyre::tcp_listener::bind(own_loopback()).local_address();
    const gyre::address two = gyre::tcp_listener::bind(own_loopback()).local_address();
    const std::vector<gyre::address> both = {one, two};
    const std::vector<gyre::address> none;
    EXPECT_EQ(co_await error_of(gyre::connect_to_first(both)), "connect " + one.string() + ": Connection refused");
    EXPECT_EQ(co_await error_of(gyre::connect_to_first(none)), "connect no address: Invalid argument");
  });
}

TEST(happy_eyeballs, a_cancel_gives_all_attempts_up) {
  run_test([]() -> gyre::task<> {
    const full_listener silent;
    auto connecting = gyre::spawn(gyre::connect_to_first({silent.where, silent.where}, {.attempt_delay = 1ms}));
    co_await gyre::sleep(10ms);
    connecting.cancel();
    co_await connecting.wait();
    EXPECT_TRUE(connecting.state().was_cancelled());
  });
}

TEST(open_unix_connection, talks_to_start_unix_server_line_by_line) {
  run_test([]() -> gyre::task<> {
    const std::string where = "@gyre-lines-" + std::to_string(::getpid());
    auto server = gyre::spawn(gyre::start_unix_server(upper_case_server, where), {.eager = true});
    auto connection = co_await gyre::open_unix_connection(where);
    connection.writer.write("hello\n");
    co_await connection.writer.drain();
    const auto answer = co_await connection.reader.read_line();
    EXPECT_EQ(answer, "HELLO");
    server.cancel();
    co_await server.wait();
  });
}
