// tests/net/half_close_test.cpp: how the ends of connections are reported, and how connections are aborted.
#include "tests/net/connected_pair.hpp"
#include "tests/support/failure_log.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

/// A connection whose peer has closed, and has answered data sent to it with a reset.
task<gyre::tcp_stream> left_by_peer() {
  connected_pair pair = co_await connect_pair();
  {
    const gyre::tcp_stream gone = std::move(pair.client);
  }
  std::array<std::byte, 4> buffer;
  EXPECT_EQ(co_await pair.server.read_some(std::span(buffer)), 0U);
  co_await pair.server.write_all("for nobody");
  co_await settle();
  co_return std::move(pair.server);
}

}  // namespace

TEST(half_close, is_no_error_on_a_connection_that_the_peer_has_left) {
  run_test([]() -> task<> {
    gyre::tcp_stream stream = co_await left_by_peer();
    co_await stream.shutdown_write();
  });
}

TEST(half_close, copy_bidirectional_ends_normally_when_a_client_simply_closes) {
  run_test([]() -> task<> {
    connected_pair front = co_await connect_pair();
    connected_pair back = co_await connect_pair();
    auto proxy = gyre::spawn(gyre::copy_bidirectional(front.server, back.client));
    co_await front.client.write_all("a question");
    std::array<char, 10> question;
    co_await back.server.read_exactly(std::span<char>(question));
    co_await front.client.close();
    std::array<std::byte, 4> rest;
    EXPECT_EQ(co_await back.server.read_some(std::span(rest)), 0U);
    co_await back.server.write_all("an answer that nobody waits for");
    co_await settle();  // the client's kernel answers with a reset
    co_await back.server.shutdown_write();
    const auto copied = co_await proxy;
    EXPECT_EQ(copied.first_to_second, 10U);
    EXPECT_EQ(copied.second_to_first, 31U);
  });
}

TEST(half_close, after_wait_closed_the_peer_has_seen_the_end_while_the_reader_lives) {
  run_with_pair([](connected_pair& pair) -> task<> {
    gyre::stream_connection here = gyre::make_connection(std::move(pair.client));
    here.writer.write("hello");
    here.writer.close();
    co_await here.writer.wait_closed();
    EXPECT_EQ(co_await read_text_to_end(pair.server), "hello");
    co_await pair.server.write_all("an answer");
    EXPECT_EQ(co_await here.reader.read_exactly(9), "an answer");
  });
}

TEST(half_close, wait_closed_of_a_connection_that_the_peer_has_left_is_no_error) {
  run_test([]() -> task<> {
    gyre::stream_connection here = gyre::make_connection(co_await left_by_peer());
    here.writer.close();
    co_await here.writer.wait_closed();
  });
}

TEST(aborting, a_tcp_stream_resets_the_connection_at_once_though_it_stays_open) {
  run_with_pair([](connected_pair& pair) -> task<> {
    const std::string much(20'000'000, 'x');
    auto writing = gyre::spawn([&]() -> task<> { co_await pair.client.write_all(much); });
    auto reading = gyre::spawn([&]() -> task<> { (void)co_await pair.client.receive(); });
    co_await settle();
    EXPECT_FALSE(writing.done());
    pair.client.abort();
    EXPECT_NE(co_await error_of(std::move(writing)), "");
    EXPECT_NE(co_await error_of(std::move(reading)), "");
    auto far = read_text_to_end(pair.server);
    EXPECT_NE(co_await error_of(std::move(far)), "") << "a part that looks like the whole";
    EXPECT_TRUE(pair.client.is_open());
    EXPECT_NE(co_await error_of(pair.client.write_all("late")), "");
    pair.client.abort();
  });
}

TEST(aborting, a_tcp_stream_lets_the_peer_read_what_had_arrived) {
  run_with_pair([](connected_pair& pair) -> task<> {
    co_await pair.client.write_all("arrived");
    co_await settle();
    pair.client.abort();
    co_await settle();
    std::array<std::byte, 7> buffer;
    EXPECT_EQ(co_await pair.server.read_exactly(buffer), 7U);
    const std::string error = co_await error_of(read_text_to_end(pair.server));
    EXPECT_NE(error.find("Connection reset"), std::string::npos) << error;
  });
}

TEST(aborting, one_side_of_a_proxy_resets_the_other) {
  run_test([]() -> task<> {
    connected_pair client = co_await connect_pair();
    connected_pair upstream = co_await connect_pair();
    auto copying = gyre::spawn(gyre::copy_bidirectional(client.server, upstream.client));
    co_await upstream.server.write_all("part");
    std::array<std::byte, 4> part;
    EXPECT_EQ(co_await client.client.read_exactly(part), 4U);
    upstream.server.abort();
    EXPECT_NE(co_await error_of(std::move(copying)), "");
    const std::string error = co_await error_of(read_text_to_end(client.client));
    EXPECT_NE(error.find("Connection reset"), std::string::npos) << error;
  });
}

TEST(aborting, a_unix_stream_ends_both_directions) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> task<> {
    auto reading = gyre::spawn([&]() -> task<std::size_t> {
      std::array<std::byte, 4> buffer;
      co_return co_await pair.first.read_some(std::span(buffer));
    });
    co_await settle();
    pair.first.abort();
    EXPECT_EQ(co_await error_of(std::move(reading)), "read_some: Connection reset by peer");
    EXPECT_EQ(co_await error_of(pair.first.receive()), "receive: Connection reset by peer");
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(co_await pair.second.read_some(std::span(buffer)), 0U);
    EXPECT_NE(co_await error_of(pair.first.write_all("late")), "");
  });
}

TEST(aborting, a_writer_whose_peer_never_reads_frees_its_buffer_and_resets) {
  run_with_pair([](connected_pair& pair) -> task<> {
    gyre::stream_connection here = gyre::make_connection(std::move(pair.client));
    here.writer.write(std::string(20'000'000, 'x'));
    co_await settle();
    EXPECT_GT(here.writer.buffered(), 0U);
    here.writer.abort();
    co_await here.writer.wait_closed();
    EXPECT_EQ(here.writer.buffered(), 0U);
    EXPECT_NE(co_await error_of(here.reader.read()), "");
    auto far = read_text_to_end(pair.server);
    EXPECT_NE(co_await error_of(std::move(far)), "");
  });
}

TEST(aborting, a_writer_that_is_dropped_lets_go_of_a_peer_that_never_reads) {
  run_with_pair([](connected_pair& pair) -> task<> {
    {
      gyre::stream_connection here = gyre::make_connection(std::move(pair.client));
      here.writer.set_linger_limits({.time = 10ms});
      here.writer.write(std::string(20'000'000, 'x'));
    }
    co_await gyre::sleep(10ms);  // ends after the limit, which was set before this
    auto far = read_text_to_end(pair.server);
    EXPECT_NE(co_await error_of(std::move(far)), "") << "it was sent though nobody read it";
  });
}

TEST(aborting, a_server_whose_handler_has_returned_does_not_wait_for_ever_for_its_client_and_reports_nothing) {
  run_test([]() -> task<> {
    const failure_log log;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto much = [](gyre::stream_reader&, gyre::stream_writer& writer) -> task<> {
      writer.set_linger_limits({.time = 10ms});
      writer.write(std::string(20'000'000, 'x'));
      co_return;
    };
    auto serving = gyre::spawn(gyre::start_server(much, listener));
    auto peer = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await settle();
    serving.cancel();
    co_await serving.wait();
    EXPECT_TRUE(log.entries.empty()) << log.entries[0].what;
    EXPECT_NE(co_await error_of(read_text_to_end(peer)), "") << "a part that looks like the whole";
  });
}
