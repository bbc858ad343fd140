// tests/net/closed_object_test.cpp: using a closed or moved-from socket stops the program with a message.
#include "tests/net/connected_pair.hpp"

#include <fcntl.h>

#include <array>
#include <string>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

std::string on_stream(const char* operation) {
  return std::string(operation) +
         " on a TCP or Unix stream that is closed or was moved from: use the object that it was moved to, or open a "
         "new one";
}
std::string on_datagrams(const char* operation) {
  return std::string(operation) + " on a datagram socket that is closed or was moved from";
}

/// Runs `use` on the object that `make` returns, after another object has taken over its contents.
template <class Make, class Use>
void use_moved_from(Make make, Use use) {
  gyre::run([&]() -> task<> {
    auto object = make();
    const auto taken_over = std::move(object);
    co_await use(object);  // NOLINT(bugprone-use-after-move): that is the test
  });
}
template <class Use>
void use_moved_from_stream(Use use) {
  use_moved_from([] { return gyre::unix_stream::pair().first; }, use);
}
template <class Use>
void use_closed_tcp_stream(Use use) {
  gyre::run([&]() -> task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.close();
    co_await use(pair.client);
  });
}

std::array<std::byte, 4> room;

constexpr auto read_some = [](auto& stream) -> task<> { (void)co_await stream.read_some(std::span(room)); };
constexpr auto read_exact = [](auto& stream) -> task<> { (void)co_await stream.read_exactly(std::span(room)); };
constexpr auto receive = [](auto& stream) -> task<> { (void)co_await stream.receive(); };
constexpr auto write_some = [](auto& stream) -> task<> { (void)co_await stream.write_some("text"); };
constexpr auto write_all = [](auto& stream) -> task<> { (void)co_await stream.write_all("text"); };
constexpr auto write_nothing = [](auto& stream) -> task<> { (void)co_await stream.write_all(""); };
constexpr auto shutdown_write = [](auto& stream) -> task<> { co_await stream.shutdown_write(); };
constexpr auto send_file = [](auto& stream) -> task<> { (void)co_await stream.send_file(0, 0, 10); };
constexpr auto write_gathered = [](auto& stream) -> task<> {
  const std::array<gyre::io::const_buffer, 1> pieces{{{room.data(), room.size()}}};
  (void)co_await stream.write_all(std::span<const gyre::io::const_buffer>(pieces));
};
constexpr auto read_with_limit = [](auto& stream) -> task<> {
  (void)co_await gyre::as_expected(gyre::timeout(1s, stream.read_some(std::span(room))));
};
constexpr auto write_as_expected = [](auto& stream) -> task<> {
  (void)co_await gyre::as_expected(stream.write_all("text"));
};
constexpr auto send_descriptors = [](gyre::unix_stream& stream) -> task<> {
  const std::array<int, 1> passed{0};
  (void)co_await stream.send_descriptors(room, passed);
};
constexpr auto receive_descriptors = [](gyre::unix_stream& stream) -> task<> {
  (void)co_await stream.receive_descriptors(room);
};

}  // namespace

TEST(closed_stream, reading_stops_the_program) {
  EXPECT_DEATH(use_closed_tcp_stream(read_some), on_stream("read_some"));
  EXPECT_DEATH(use_moved_from_stream(read_some), on_stream("read_some"));
  EXPECT_DEATH(use_moved_from_stream(read_exact), on_stream("read_exactly"));
  EXPECT_DEATH(use_moved_from_stream(receive), on_stream("receive"));
  EXPECT_DEATH(use_moved_from_stream(receive_descriptors), on_stream("receive_descriptors"));
  EXPECT_DEATH(use_moved_from_stream(read_with_limit), on_stream("read_some"));
}

TEST(closed_stream, writing_stops_the_program) {
  EXPECT_DEATH(use_closed_tcp_stream(write_all), on_stream("write_all"));
  EXPECT_DEATH(use_moved_from_stream(write_all), on_stream("write_all"));
  EXPECT_DEATH(use_moved_from_stream(write_nothing), on_stream("write_all"));
  EXPECT_DEATH(use_moved_from_stream(write_some), on_stream("write_some"));
  EXPECT_DEATH(use_moved_from_stream(write_gathered), on_stream("write_all"));
  EXPECT_DEATH(use_moved_from_stream(shutdown_write), on_stream("shutdown_write"));
  EXPECT_DEATH(use_moved_from_stream(send_file), on_stream("send_file"));
  EXPECT_DEATH(use_moved_from_stream(send_descriptors), on_stream("write_all"));
  EXPECT_DEATH(use_moved_from_stream(write_as_expected), on_stream("write_all"));
}

TEST(closed_stream, a_stream_that_was_never_open_stops_the_program_as_well) {
  const auto use_empty = [] {
    gyre::run([]() -> task<> {
      gyre::tcp_stream never_opened;
      co_await read_some(never_opened);
    });
  };
  EXPECT_DEATH(use_empty(), on_stream("read_some"));
}

TEST(closed_stream, asking_for_its_address_or_an_option_stops_the_program) {
  const auto ask = [](auto& stream) -> task<> {
    (void)stream.local_address();
    co_return;
  };
  const auto set = [](auto& stream) -> task<> {
    stream.set_no_delay(true);
    co_return;
  };
  EXPECT_DEATH(use_closed_tcp_stream(ask), on_stream("local_address"));
  EXPECT_DEATH(use_closed_tcp_stream(set), on_stream("set_no_delay"));
}

TEST(closed_listener, accepting_stops_the_program_and_stopping_does_nothing) {
  const auto make = [] { return gyre::tcp_listener::bind("127.0.0.1:0"); };
  const auto accept = [](gyre::tcp_listener& listener) -> task<> {
    listener.stop();
    (void)co_await listener.accept();
  };
  EXPECT_DEATH(use_moved_from(make, accept), "accept on a listener that is closed or was moved from: use the object");
}

TEST(closed_stream, may_be_closed_and_cancelled_again_and_says_that_it_is_not_open) {
  run_with_pair([](connected_pair& pair) -> task<> {
    co_await pair.client.close();
    EXPECT_FALSE(pair.client.is_open());
    EXPECT_EQ(pair.client.native_descriptor(), -1);
    pair.client.cancel();
    pair.client.abort();
    co_await pair.client.close();
    pair.client = std::move(pair.server);
    EXPECT_TRUE(pair.client.is_open());
    EXPECT_FALSE(pair.server.is_open());
  });
}

TEST(closed_stream, an_any_stream_that_is_empty_stops_the_program) {
  const auto make = [] { return gyre::any_stream(gyre::memory_pair().first); };
  const char* const why = "on an any_stream that is closed or was moved from";
  EXPECT_DEATH(use_moved_from(make, read_some), why);
  EXPECT_DEATH(use_moved_from(make, [](auto& s) -> task<> { co_await s.write_all(room); }), why);
  EXPECT_DEATH(use_moved_from(make, shutdown_write), why);
}

TEST(closed_stream, a_memory_stream_that_was_moved_from_stops_the_program) {
  const auto make = [] { return gyre::memory_pair().first; };
  EXPECT_DEATH(use_moved_from(make, read_some), "read_some on a memory_stream that is closed or was moved from");
  EXPECT_DEATH(use_moved_from(make, read_exact), "read_exactly on a memory_stream that is closed or was moved from");
  EXPECT_DEATH(use_moved_from(make, shutdown_write), "shutdown_write on a memory_stream that is closed");
  const auto write = [](auto& stream) -> task<> { (void)co_await stream.write_all(room); };
  EXPECT_DEATH(use_moved_from(make, write), "write_all on a memory_stream that is closed or was moved from");
}

TEST(closed_stream, a_reader_or_a_writer_that_was_moved_from_stops_the_program) {
  const auto reader = [] { return gyre::stream_reader(gyre::any_stream(gyre::memory_pair().first)); };
  const auto writer = [] { return gyre::stream_writer(gyre::any_stream(gyre::memory_pair().first)); };
  const auto read_line = [](gyre::stream_reader& from) -> task<> { (void)co_await from.read_line(); };
  const auto flush = [](gyre::stream_writer& to) -> task<> { co_await to.flush(); };
  const auto write = [](gyre::stream_writer& to) -> task<> {
    to.write("text");
    co_return;
  };
  EXPECT_DEATH(use_moved_from(reader, read_line), "read_line on a stream_reader that is closed or was moved from");
  EXPECT_DEATH(use_moved_from(writer, flush), "flush on a stream_writer that is closed or was moved from");
  EXPECT_DEATH(use_moved_from(writer, write), "write on a stream_writer that is closed or was moved from");
}

TEST(closed_file, reading_and_writing_stop_the_program) {
  const auto make = [] { return gyre::fs::file::from_fd(::open("/dev/null", O_RDWR | O_CLOEXEC), "null"); };
  const auto use = [&](auto function) { use_moved_from(make, function); };
  EXPECT_DEATH(use(read_some), "read_some on a file that is closed or was moved from: use the object");
  EXPECT_DEATH(use(read_exact), "read_exactly on a file that is closed");
  EXPECT_DEATH(use(write_all), "write_all on a file that is closed");
  EXPECT_DEATH(use(write_nothing), "write_all on a file that is closed");
  EXPECT_DEATH(use([](auto& f) -> task<> { (void)co_await f.read_at(std::span(room), 1); }), "read_at on a file");
  EXPECT_DEATH(use([](auto& f) -> task<> { (void)co_await f.write_at("text", 1); }), "write_at on a file");
  EXPECT_DEATH(use([](auto& f) -> task<> { co_await f.sync(); }), "sync on a file");
  EXPECT_DEATH(use([](auto& f) -> task<> { (void)co_await f.stat(); }), "stat on a file");
  EXPECT_DEATH(use([](auto& f) -> task<> {
                 f.set_position(0);
                 co_return;
               }),
               "set_position on a file");
}

TEST(closed_file, may_be_closed_again_and_says_that_it_is_not_open) {
  run_test([]() -> task<> {
    gyre::fs::file null = gyre::fs::file::from_fd(::open("/dev/null", O_RDWR | O_CLOEXEC), "null");
    co_await null.close();
    EXPECT_FALSE(null.is_open());
    EXPECT_EQ(null.native_descriptor(), -1);
    EXPECT_EQ(null.path(), "");
    co_await null.close();
  });
}

TEST(closed_datagram_socket, sending_and_receiving_stop_the_program) {
  const auto udp = [] { return gyre::udp_socket::bind("127.0.0.1:0"); };
  const auto local = [] { return gyre::unix_datagram::pair().first; };
  const auto receive_from = [](auto& s) -> task<> { (void)co_await s.receive_from(room); };
  const auto send = [](auto& s) -> task<> { (void)co_await s.send("text"); };
  const auto send_to = [](auto& s) -> task<> {
    const gyre::address nowhere("127.0.0.1:9");
    (void)co_await s.send_to("text", nowhere);
  };
  const auto ask = [](auto& s) -> task<> {
    (void)s.local_address();
    co_return;
  };
  EXPECT_DEATH(use_moved_from(udp, receive_from), on_datagrams("receive_from"));
  EXPECT_DEATH(use_moved_from(udp, receive), on_datagrams("receive"));
  EXPECT_DEATH(use_moved_from(udp, send), on_datagrams("send"));
  EXPECT_DEATH(use_moved_from(udp, send_to), on_datagrams("send_to"));
  EXPECT_DEATH(use_moved_from(udp, ask), on_datagrams("local_address"));
  EXPECT_DEATH(use_moved_from(local, receive_from), on_datagrams("receive_from"));
  EXPECT_DEATH(use_moved_from(local, receive), on_datagrams("receive"));
  EXPECT_DEATH(use_moved_from(local, send), on_datagrams("send"));
}
