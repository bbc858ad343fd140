// tests/stream/reader_writer_test.cpp: asyncio's StreamReader and StreamWriter.
#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

/// A reader at one end; what to do at the other.
struct ends {
  explicit ends(std::size_t capacity = 1 << 16U) : ends(gyre::memory_pair(capacity)) {}
  explicit ends(gyre::memory_pair pair)
      : far(std::move(pair.first)), reader(gyre::any_stream(std::move(pair.second))) {}

  gyre::task<> say(std::string text) { (void)co_await far.write_all(std::as_bytes(std::span(text))); }
  gyre::task<> say_and_end(std::string text) {
    co_await say(std::move(text));
    co_await far.shutdown_write();
  }

  gyre::memory_stream far;
  gyre::stream_reader reader;
};

}  // namespace

// ---- reading

TEST(stream_reader, reads_lines_with_either_end_and_a_last_one_without) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("one\r\ntwo\n\nlast");
    std::vector<std::string> lines;
    while (auto line = co_await two.reader.read_line()) lines.push_back(*line);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "last"}));
    EXPECT_TRUE(two.reader.at_eof());
  });
}

TEST(stream_reader, a_line_over_the_limit_is_an_error_and_stays) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("0123456789\n");
    EXPECT_EQ(co_await error_of(two.reader.read_line(5)), "read_line more than the limit of 5 bytes: Message too long");
    EXPECT_EQ(co_await two.reader.read(4), "0123");
    EXPECT_EQ(co_await two.reader.read_line(), "456789");
  });
}

TEST(stream_reader, read_until_finds_a_separator_wherever_it_is_cut) {
  run_virtual([]() -> gyre::task<> {
    const std::string text = "head\r\n\r\nbody";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      ends two;
      auto found = gyre::spawn(two.reader.read_until("\r\n\r\n"));
      const std::string head = text.substr(0, cut);
      const std::string tail = text.substr(cut);
      co_await two.say(head);
      co_await gyre::sleep(1ms);
      co_await two.say_and_end(tail);
      EXPECT_EQ(co_await found, "head\r\n\r\n");
      EXPECT_EQ(co_await two.reader.read_all(100), "body");
    }
  });
}

TEST(stream_reader, of_several_separators_the_one_that_ends_first_counts) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say("a;b,c\r\n");
    const std::vector<std::string> separators = {",", ";", "\r\n"};
    EXPECT_EQ(co_await two.reader.read_until_any(separators), "a;");
    EXPECT_EQ(co_await two.reader.read_until_any(separators), "b,");
    const std::vector<std::string> ends_of_line = {"\n", "\r\n\r\n"};
    EXPECT_EQ(co_await two.reader.read_until_any(ends_of_line), "c\r\n") << "it does not wait for what may follow";
  });
}

TEST(stream_reader, read_until_without_the_separator_says_so_and_keeps_the_bytes) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("no end");
    EXPECT_THROW((void)co_await two.reader.read_until("|"), gyre::incomplete_transfer);
    EXPECT_THROW((void)co_await two.reader.read_until("|", 3), gyre::io_error);
    EXPECT_EQ(co_await two.reader.read(), "no end");
    EXPECT_EQ(co_await two.reader.read(), "");
  });
}

TEST(stream_reader, read_exactly_waits_for_all_and_keeps_what_came_when_the_stream_ends) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    auto reading = gyre::spawn(two.reader.read_exactly(6));
    co_await two.say("abc");
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(reading.done());
    co_await two.say_and_end("defgh");
    EXPECT_EQ(co_await reading, "abcdef");
    try {
      (void)co_await two.reader.read_exactly(3);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 2U);
    }
    EXPECT_EQ(co_await two.reader.read(), "gh");
  });
}

TEST(stream_reader, a_cancelled_read_loses_nothing) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    auto reading = gyre::spawn(two.reader.read_exactly(10));
    co_await two.say("abc");
    co_await gyre::sleep(1ms);
    reading.cancel();
    co_await reading.wait();
    EXPECT_EQ(co_await two.reader.read(), "abc");
  });
}

TEST(stream_reader, read_all_has_a_limit) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("12345");
    EXPECT_THROW((void)co_await two.reader.read_all(4), gyre::io_error);
    EXPECT_EQ(co_await two.reader.read_all(5), "12345");
  });
}

// ---- writing

TEST(stream_writer, sends_what_is_written_in_order_without_waiting) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(8);
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    gyre::stream_reader reader{gyre::any_stream(std::move(pair.second))};
    std::string all;
    for (int i = 0; i < 100; ++i) {
      writer.write(std::to_string(i));
      all += std::to_string(i);
    }
    writer.write_lines(std::vector<std::string>{"x\n", "y\n"});
    auto ending = gyre::spawn(writer.write_eof());
    EXPECT_EQ(co_await reader.read_all(1000), all + "x\ny\n");
    co_await ending;
    EXPECT_THROW(writer.write("more"), std::logic_error);
  });
}

TEST(stream_writer, drain_waits_above_the_high_limit_until_the_low_one) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(10);
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    gyre::stream_reader reader{gyre::any_stream(std::move(pair.second))};
    writer.set_write_limits({.high = 50, .low = 20});
    writer.write(std::string(40, 'a'));
    co_await writer.drain();  // 40 is not over the limit
    writer.write(std::string(40, 'b'));
    auto draining = gyre::spawn(writer.drain());
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(draining.done());
    EXPECT_EQ((co_await reader.read_exactly(70)).size(), 70U);
    co_await draining;
    EXPECT_LE(writer.buffered(), 40U);
    EXPECT_EQ(co_await reader.read_exactly(10), std::string(10, 'b'));
    co_await writer.flush();
    EXPECT_EQ(writer.buffered(), 0U);
  });
}

TEST(stream_writer, an_error_of_the_stream_is_thrown_by_the_next_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    {
      const gyre::memory_stream gone = std::move(pair.second);
    }
    writer.write("hello");
    co_await gyre::yield();
    EXPECT_EQ(co_await error_of(writer.drain()), "write_all memory: Broken pipe");
    writer.write("dropped");
    writer.close();
    EXPECT_EQ(co_await error_of(writer.wait_closed()), "write_all memory: Broken pipe");
  });
}

TEST(stream_writer, that_is_destroyed_still_sends_its_buffer) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(2);
    gyre::stream_reader reader{gyre::any_stream(std::move(pair.second))};
    {
      gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
      writer.write("sent all the same");
    }
    EXPECT_EQ(co_await reader.read_all(100), "sent all the same");
  });
}

TEST(stream_writer, a_cancelled_drain_stops_waiting_and_the_buffer_is_sent) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(10);
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    gyre::stream_reader reader{gyre::any_stream(std::move(pair.second))};
    writer.set_write_limits({.high = 5, .low = 0});
    writer.write(std::string(40, 'a'));
    auto draining = gyre::spawn(writer.drain());
    co_await gyre::sleep(1ms);
    draining.cancel();
    co_await draining.wait();
    EXPECT_TRUE(draining.state().was_cancelled());
    EXPECT_EQ((co_await reader.read_exactly(40)).size(), 40U);
    co_await writer.flush();
  });
}

TEST(stream_writer, a_loop_that_ends_with_a_full_buffer_ends) {
  std::optional<gyre::memory_stream> far;  // nobody reads
  run_virtual([&]() -> gyre::task<> {
    gyre::memory_pair pair(2);
    far.emplace(std::move(pair.second));
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    writer.write("more than two");
    co_return;
  });
}
