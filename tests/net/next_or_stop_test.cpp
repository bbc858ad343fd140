// tests/net/next_or_stop_test.cpp: waiting for the next message of a connection, or for the request to stop.
#include <gyre/net/start_server.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <string>

using namespace gyre_test;
using gyre::task;

namespace {

/// A stream on whose peer nothing was written yet, and the wait for its next message.
struct waiting_pair {
  connected_pair streams;
  gyre::task_handle<bool> next;
};

task<waiting_pair> begin_to_wait() {
  auto streams = co_await connect_pair();
  auto next = gyre::spawn(gyre::as_task(streams.server.next_or_stop()));
  co_await settle();
  EXPECT_FALSE(next.done());
  co_return waiting_pair{std::move(streams), std::move(next)};
}

task<std::string> read_some_text(gyre::tcp_stream& from) {
  std::array<char, 64> buffer;
  const std::size_t n = co_await from.read_some(std::span(buffer));
  co_return std::string(buffer.data(), n);
}

}  // namespace

TEST(next_or_stop, is_true_when_a_message_arrives_and_leaves_it_to_the_read) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    co_await waiting.streams.client.write_all("ping");
    EXPECT_TRUE(co_await waiting.next);
    EXPECT_TRUE(co_await waiting.streams.server.next_or_stop());  // still there
    EXPECT_EQ(co_await read_some_text(waiting.streams.server), "ping");
  });
}

TEST(next_or_stop, is_false_at_the_end_of_the_stream) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    co_await waiting.streams.client.shutdown_write();
    EXPECT_FALSE(co_await waiting.next);
    EXPECT_FALSE(co_await waiting.streams.server.next_or_stop());
  });
}

TEST(next_or_stop, throws_when_the_peer_resets) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    waiting.streams.client.abort();
    const std::string error = co_await error_of(std::move(waiting.next));
    EXPECT_TRUE(error.starts_with("next_or_stop 127.0.0.1:")) << error;
    EXPECT_TRUE(error.ends_with("Connection reset by peer")) << error;
  });
}

TEST(next_or_stop, is_false_when_the_program_is_asked_to_stop) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    gyre::request_stop();
    EXPECT_FALSE(co_await waiting.next);
    EXPECT_FALSE(co_await waiting.streams.server.next_or_stop());
    // The stream goes on.
    co_await waiting.streams.client.write_all("late");
    EXPECT_EQ(co_await read_some_text(waiting.streams.server), "late");
  });
}

TEST(next_or_stop, is_true_for_a_message_that_had_arrived_before_the_request) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    co_await waiting.streams.client.write_all("ping");
    gyre::request_stop();
    EXPECT_TRUE(co_await waiting.next);
    EXPECT_EQ(co_await read_some_text(waiting.streams.server), "ping");
  });
}

TEST(next_or_stop, is_true_for_a_message_that_is_there_when_it_begins_after_the_request) {
  run_with_pair([](connected_pair& streams) -> task<> {
    gyre::request_stop();
    co_await gyre::stop_requested();
    co_await streams.client.write_all("ping");
    EXPECT_TRUE(co_await streams.server.next_or_stop());
    EXPECT_EQ(co_await read_some_text(streams.server), "ping");
    EXPECT_FALSE(co_await streams.server.next_or_stop());
  });
}

TEST(next_or_stop, on_a_unix_stream_ends_at_the_request_too) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> task<> {
    co_await pair.first.write_all("a");
    EXPECT_TRUE(co_await pair.second.next_or_stop());
    std::array<std::byte, 1> byte;
    co_await pair.second.read_exactly(byte);
    auto next = gyre::spawn(gyre::as_task(pair.second.next_or_stop()));
    co_await settle();
    gyre::request_stop();
    EXPECT_FALSE(co_await next);
  });
}

TEST(next_or_stop, takes_a_time_limit_and_reports_errors_as_values) {
  run_with_pair([](connected_pair& streams) -> task<> {
    const auto late = co_await gyre::as_expected(gyre::timeout(1ms, streams.server.next_or_stop()));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    streams.server.abort();
    const auto reset = co_await gyre::as_expected(streams.server.next_or_stop());
    EXPECT_FALSE(reset.has_value());
  });
}

TEST(next_or_stop, that_is_cancelled_loses_nothing) {
  run_test([]() -> task<> {
    auto waiting = co_await begin_to_wait();
    waiting.next.cancel();
    co_await waiting.next.wait();
    EXPECT_TRUE(waiting.next.state().was_cancelled());
    co_await waiting.streams.client.write_all("ping");
    EXPECT_TRUE(co_await waiting.streams.server.next_or_stop());
    EXPECT_EQ(co_await read_some_text(waiting.streams.server), "ping");
  });
}

TEST(next_or_stop, that_loses_a_race_leaves_the_message) {
  run_with_pair([](connected_pair& streams) -> task<> {
    auto first = gyre::race(streams.server.next_or_stop(), gyre::sleep(1ms));
    EXPECT_EQ((co_await std::move(first)).index, 1U);
    co_await streams.client.write_all("ping");
    EXPECT_EQ(co_await read_some_text(streams.server), "ping");
  });
}

TEST(next_or_stop, is_not_notified_any_more_once_it_has_its_result) {
  run_with_pair([](connected_pair& streams) -> task<> {
    // The operation lives to the end of the expression, the stream does not.
    const auto close = [](gyre::tcp_stream closed) -> task<bool> {
      co_await closed.close();
      gyre::request_stop();
      co_await gyre::stop_requested();
      co_await settle();
      co_return true;
    };
    auto writing = gyre::spawn([&]() -> task<> {
      co_await settle();
      co_await streams.client.write_all("ping");
    });
    const bool both = co_await streams.server.next_or_stop() && co_await close(std::move(streams.server));
    EXPECT_TRUE(both);
    co_await writing;
  });
}

TEST(next_or_stop, works_when_earlier_reads_had_requests_of_their_own) {
  run_with_pair([](connected_pair& streams) -> task<> {
    for (int i = 0; i < 3; ++i) {
      auto reading = gyre::spawn(read_some_text(streams.server));
      co_await settle();
      co_await streams.client.write_all("a");
      EXPECT_EQ(co_await reading, "a");
      auto next = gyre::spawn(gyre::as_task(streams.server.next_or_stop()));
      co_await settle();
      co_await streams.client.write_all("b");
      EXPECT_TRUE(co_await next);
      EXPECT_EQ(co_await read_some_text(streams.server), "b");
    }
  });
}

TEST(next_or_stop, in_two_tasks_on_one_stream_stops_the_program) {
  EXPECT_DEATH(run_test([]() -> task<> {
                 auto waiting = co_await begin_to_wait();
                 (void)co_await waiting.streams.server.next_or_stop();
               }),
               "two tasks read from one stream at the same time");
}

TEST(next_or_stop, on_a_closed_stream_stops_the_program) {
  EXPECT_DEATH(run_test([]() -> task<> {
                 auto streams = co_await connect_pair();
                 co_await streams.server.close();
                 (void)co_await streams.server.next_or_stop();
               }),
               "next_or_stop on a TCP or Unix stream that is closed or was moved from");
}

TEST(next_or_stop, keeps_a_program_without_a_server_from_being_cancelled_by_the_request) {
  gyre::run_options options;
  options.loop.virtual_time = true;
  options.handle_signals = true;
  const int code = gyre::run_main(
      []() -> task<int> {
        auto waiting = co_await begin_to_wait();
        gyre::request_stop();
        EXPECT_FALSE(co_await waiting.next);
        co_await gyre::sleep(1ms);
        co_return 7;
      }(),
      options);
  EXPECT_EQ(code, 7);
}

TEST(next_or_stop, on_a_reader_is_true_while_bytes_are_in_its_buffer) {
  run_with_pair([](connected_pair& streams) -> task<> {
    gyre::stream_reader reader{gyre::any_stream(std::move(streams.server))};
    co_await streams.client.write_all("one\ntwo\nth");
    EXPECT_TRUE(co_await reader.next_or_stop());
    EXPECT_EQ(co_await reader.read_line(), "one");
    gyre::request_stop();
    co_await gyre::stop_requested();
    EXPECT_TRUE(co_await reader.next_or_stop());
    EXPECT_EQ(co_await reader.read_line(), "two");
    // A line that has begun is read to its end.
    EXPECT_TRUE(co_await reader.next_or_stop());
    auto line = gyre::spawn(reader.read_line());
    co_await settle();
    EXPECT_FALSE(line.done());
    co_await streams.client.write_all("ree\n");
    EXPECT_EQ(co_await line, "three");
    EXPECT_FALSE(co_await reader.next_or_stop());
  });
}

TEST(next_or_stop, on_a_reader_is_false_at_the_end) {
  run_with_pair([](connected_pair& streams) -> task<> {
    gyre::stream_reader reader{gyre::any_stream(std::move(streams.server))};
    co_await streams.client.shutdown_write();
    EXPECT_FALSE(co_await reader.next_or_stop());
    EXPECT_EQ(co_await reader.read_line(), std::nullopt);
    EXPECT_FALSE(co_await reader.next_or_stop());
  });
}
