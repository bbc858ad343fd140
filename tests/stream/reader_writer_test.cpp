// tests/stream/reader_writer_test.cpp: asyncio's StreamReader and StreamWriter.
#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

/// A reader at one end. The test acts at the other end.
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

/// A reader and a writer at one end, and a reader at the other.
struct both_ways {
  explicit both_ways(std::size_t capacity = 1 << 16U) : both_ways(gyre::memory_pair(capacity)) {}
  explicit both_ways(gyre::memory_pair pair)
      : here(gyre::any_stream(std::move(pair.first))),
        reader(here),
        writer(here),
        far(gyre::any_stream(std::move(pair.second))) {}

  gyre::shared_stream here;
  gyre::stream_reader reader;
  gyre::stream_writer writer;
  gyre::stream_reader far;
};

/// Reads until the stream ends or fails.
gyre::task<> read_rest(gyre::memory_stream& from) {
  std::array<std::byte, 16> buffer;
  while (co_await from.read_some(buffer) > 0) {
  }
}

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

TEST(stream_reader, a_line_of_exactly_the_limit_is_allowed_with_either_end_and_at_the_end_of_the_stream) {
  run_virtual([]() -> gyre::task<> {
    for (const std::string end : {"\n", "\r\n", ""}) {
      for (const std::string line : {"", "1", "12345"}) {
        if (line.empty() && end.empty()) continue;
        for (std::size_t cut = 0; cut <= line.size() + end.size(); ++cut) {
          ends two;
          auto reading = gyre::spawn(two.reader.read_line(line.size()));
          const std::string text = line + end;
          const std::string head = text.substr(0, cut);
          const std::string tail = text.substr(cut);
          co_await two.say(head);
          co_await gyre::sleep(1ms);
          co_await two.say_and_end(tail);
          EXPECT_EQ(co_await reading, line) << "cut at " << cut;
        }
      }
    }
  });
}

TEST(stream_reader, a_line_one_byte_over_the_limit_is_an_error_with_either_end_and_at_the_end_of_the_stream) {
  run_virtual([]() -> gyre::task<> {
    for (const std::string end : {"\n", "\r\n", "", "\r"}) {
      ends two;
      co_await two.say_and_end("123456" + end);
      EXPECT_EQ(co_await error_of(two.reader.read_line(5)),
                "read_line more than the limit of 5 bytes: Message too long");
      EXPECT_EQ(co_await two.reader.read(100), "123456" + end);
    }
    ends two;
    co_await two.say_and_end("12345\r");
    EXPECT_NE(co_await error_of(two.reader.read_line(5)), "") << "nothing follows, so that it is not a terminator";
  });
}

TEST(stream_reader, a_line_that_is_too_long_is_refused_before_its_end_has_come) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say("123456");
    EXPECT_NE(co_await error_of(two.reader.read_line(5)), "");
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

TEST(stream_reader, reads_that_need_not_wait_let_other_tasks_run) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    std::string burst;
    for (int i = 0; i < 1000; ++i) burst += "0\n";
    const auto turns_of_others = [&](auto read) -> gyre::task<int> {
      co_await two.say(burst);
      (void)co_await two.reader.read(0);
      auto read_all = [&]() -> gyre::task<> {
        for (int i = 0; i < 1000; ++i) co_await read();
      };
      const int turns = co_await turns_of_others_during(read_all());
      co_return turns;
    };
    auto line = [&]() -> gyre::task<> { EXPECT_EQ(co_await two.reader.read_line(), "0"); };
    auto exactly = [&]() -> gyre::task<> { EXPECT_EQ(co_await two.reader.read_exactly(2), "0\n"); };
    auto until = [&]() -> gyre::task<> { EXPECT_EQ(co_await two.reader.read_until("\n"), "0\n"); };
    auto some = [&]() -> gyre::task<> { EXPECT_EQ(co_await two.reader.read(2), "0\n"); };
    EXPECT_GE(co_await turns_of_others(line), 10);
    EXPECT_GE(co_await turns_of_others(exactly), 10);
    EXPECT_GE(co_await turns_of_others(until), 10);
    EXPECT_GE(co_await turns_of_others(some), 10);
  });
}

TEST(stream_reader, a_read_that_lets_others_run_is_a_read_under_way) {
  const auto destroy_early = [] {
    run_virtual([]() -> gyre::task<> {
      std::optional<ends> two(std::in_place);
      std::string burst(1000, '\n');
      co_await two->say(burst);
      auto read_all_lines = [&]() -> gyre::task<> {
        for (std::size_t i = 0; i < burst.size(); ++i) (void)co_await two->reader.read_line();
      };
      auto reading = gyre::spawn(read_all_lines);
      co_await gyre::yield();
      co_await gyre::yield();
      two.reset();
      co_await reading.wait();
    });
  };
  EXPECT_DEATH(destroy_early(), "a stream_reader was destroyed or moved while a task reads from it");
}

TEST(stream_reader, a_list_of_no_separators_is_refused) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("abc");
    const std::vector<std::string> none;
    EXPECT_EQ(co_await error_of(two.reader.read_until_any(none)), "read_until_any: no separators: Invalid argument");
    EXPECT_EQ(co_await two.reader.read(), "abc");
  });
}

TEST(stream_reader, two_tasks_that_read_at_once_stop_the_program) {
  const auto read_twice = [](auto second) {
    run_virtual([&]() -> gyre::task<> {
      ends two;
      auto first = gyre::spawn(two.reader.read_exactly(5000));
      co_await two.say("abc");
      co_await gyre::sleep(1ms);
      co_await second(two.reader);
      co_await first;
    });
  };
  const char* const sentence = "two tasks read from one stream_reader at the same time: let one task read";
  EXPECT_DEATH(read_twice([](gyre::stream_reader& r) -> gyre::task<> { (void)co_await r.read_exactly(9); }), sentence);
  EXPECT_DEATH(read_twice([](gyre::stream_reader& r) -> gyre::task<> { (void)co_await r.read_line(); }), sentence);
  EXPECT_DEATH(read_twice([](gyre::stream_reader& r) -> gyre::task<> { (void)co_await r.read(2); }), sentence)
      << "bytes of the first task";
}

TEST(stream_reader, one_that_is_destroyed_or_moved_while_a_task_reads_stops_the_program) {
  const auto read_and = [](auto use) {
    run_virtual([&]() -> gyre::task<> {
      std::optional<ends> two(std::in_place);
      auto reading = gyre::spawn(two->reader.read());
      co_await gyre::sleep(1ms);
      use(*two);
      two.reset();
      co_await reading.wait();
    });
  };
  const char* const sentence = "a stream_reader was destroyed or moved while a task reads from it";
  EXPECT_DEATH(read_and([](ends&) {}), sentence);
  EXPECT_DEATH(read_and([](ends& both) { const gyre::stream_reader moved(std::move(both.reader)); }), sentence);
}

TEST(stream_reader, that_was_moved_keeps_its_buffer_and_leaves_an_empty_one) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say("abcdef");
    EXPECT_EQ(co_await two.reader.read_exactly(2), "ab");
    gyre::stream_reader moved(std::move(two.reader));
    EXPECT_EQ(two.reader.buffered(), 0U);  // NOLINT(bugprone-use-after-move): that is the contract
    EXPECT_EQ(moved.buffered(), 4U);
    two.reader = std::move(moved);
    EXPECT_EQ(co_await two.reader.read_exactly(4), "cdef");
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
    both_ways two(8);
    std::string all;
    for (int i = 0; i < 100; ++i) {
      two.writer.write(std::to_string(i));
      all += std::to_string(i);
    }
    two.writer.write_lines(std::vector<std::string>{"x\n", "y\n"});
    auto ending = gyre::spawn(two.writer.write_eof());
    EXPECT_EQ(co_await two.far.read_all(1000), all + "x\ny\n");
    co_await ending;
    EXPECT_THROW(two.writer.write("more"), std::logic_error);
  });
}

TEST(stream_writer, drain_waits_above_the_high_limit_until_the_low_one) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(10);
    two.writer.set_write_limits({.high = 50, .low = 20});
    two.writer.write(std::string(40, 'a'));
    co_await two.writer.drain();  // 40 is not over the limit
    two.writer.write(std::string(40, 'b'));
    auto draining = gyre::spawn(two.writer.drain());
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(draining.done());
    EXPECT_EQ((co_await two.far.read_exactly(70)).size(), 70U);
    co_await draining;
    EXPECT_LE(two.writer.buffered(), 40U);
    EXPECT_EQ(co_await two.far.read_exactly(10), std::string(10, 'b'));
    co_await two.writer.flush();
    EXPECT_EQ(two.writer.buffered(), 0U);
  });
}

TEST(stream_writer, a_low_limit_above_the_high_one_counts_as_the_high_one) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(10);
    two.writer.set_write_limits({.high = 50});
    two.writer.write(std::string(40, 'a'));
    co_await gyre::sleep(1ms);  // these are on their way
    two.writer.write(std::string(40, 'b'));
    auto draining = gyre::spawn(two.writer.drain());
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(draining.done());
    const std::string first = co_await two.far.read_exactly(40);
    EXPECT_EQ(first.size(), 40U);
    co_await draining;
    EXPECT_LE(two.writer.buffered(), 50U);
    two.writer.abort();
  });
}

TEST(stream_writer_death, a_negative_time_to_linger_is_misuse) {
  const auto lingers = [] {
    run_virtual([]() -> gyre::task<> {
      both_ways two(10);
      two.writer.set_linger_limits({.time = -1ns});
      co_return;
    });
  };
  const auto waits = [] {
    run_virtual([]() -> gyre::task<> {
      both_ways two(10);
      co_await two.writer.wait_closed({.time = -1ns});
    });
  };
  EXPECT_DEATH(lingers(), "set_linger_limits with a negative time");
  EXPECT_DEATH(waits(), "wait_closed with a negative time");
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

TEST(stream_writer, after_wait_closed_the_peer_has_seen_the_end_while_the_reader_lives) {
  run_virtual([]() -> gyre::task<> {
    for (const std::string text : {"", "hello"}) {
      both_ways two;
      two.writer.write(text);
      two.writer.close();
      co_await two.writer.wait_closed();
      co_await two.writer.wait_closed();
      EXPECT_EQ(co_await two.far.read_all(100), text);
      EXPECT_THROW(two.writer.write("more"), std::logic_error);
    }
  });
}

TEST(stream_writer, that_is_closed_or_destroyed_shows_the_end_without_a_wait_and_reading_goes_on) {
  run_virtual([]() -> gyre::task<> {
    for (const bool destroyed : {false, true}) {
      gyre::memory_pair pair(4);
      const gyre::shared_stream here{gyre::any_stream(std::move(pair.first))};
      gyre::stream_reader reading(here);
      std::optional<gyre::stream_writer> writer(here);
      writer->write("a question");
      if (destroyed)
        writer.reset();
      else
        writer->close();
      auto far = gyre::any_stream(std::move(pair.second));
      auto far_shared = gyre::shared_stream(std::move(far));
      gyre::stream_reader asked(far_shared);
      EXPECT_EQ(co_await asked.read_all(100), "a question");
      gyre::stream_writer answers(far_shared);
      answers.write("an answer");
      EXPECT_EQ(co_await reading.read_exactly(9), "an answer");
    }
  });
}

TEST(stream_writer, of_a_stream_that_cannot_be_half_closed_closes_without_an_error) {
  struct one_way {
    gyre::memory_stream stream;
    gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await stream.read_some(buffer); }
    gyre::task<> write_all(std::span<const std::byte> bytes) { (void)co_await stream.write_all(bytes); }
  };
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair;
    gyre::stream_reader far{gyre::any_stream(std::move(pair.second))};
    {
      gyre::stream_writer writer{gyre::any_stream(one_way{std::move(pair.first)})};
      writer.write("all");
      writer.close();
      co_await writer.wait_closed();
      EXPECT_EQ(co_await error_of(writer.write_eof()), "shutdown_write: Operation not supported");
    }
    EXPECT_EQ(co_await far.read_all(100), "all");
  });
}

TEST(stream_writer, that_is_aborted_drops_its_buffer_and_the_peer_sees_an_error) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(4);
    two.writer.write("more than four");
    auto draining = gyre::spawn(two.writer.flush());
    auto waiting = gyre::spawn(two.reader.read());
    co_await gyre::sleep(1ms);
    two.writer.abort();
    co_await two.writer.wait_closed();
    EXPECT_EQ(two.writer.buffered(), 0U);
    EXPECT_EQ(co_await error_of(std::move(draining)), "stream_writer aborted: Operation canceled");
    EXPECT_EQ(co_await two.far.read(), "more") << "what had arrived";
    EXPECT_EQ(co_await error_of(two.far.read()), "read_some memory: Connection reset by peer");
    EXPECT_EQ(co_await error_of(std::move(waiting)), "read_some memory: Connection reset by peer");
    EXPECT_THROW(two.writer.write("late"), std::logic_error);
  });
}

TEST(stream_writer, that_is_destroyed_stops_sending_to_a_peer_that_never_reads_at_its_time_limit) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    const auto began = gyre::now();
    {
      gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
      writer.set_linger_limits({.time = 7s});
      writer.write("more than four");
    }
    co_await gyre::sleep(6s);
    std::array<std::byte, 2> two;
    EXPECT_EQ(co_await pair.second.read_some(two), 2U) << "within the limit it is sent";
    co_await gyre::sleep(2s);
    EXPECT_EQ(co_await error_of(read_rest(pair.second)), "read_some memory: Connection reset by peer");
    EXPECT_EQ(since(began), 8s);
  });
}

TEST(stream_writer, that_is_destroyed_with_more_than_its_limit_aborts_at_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    gyre::stream_reader far{gyre::any_stream(std::move(pair.second))};
    {
      gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
      writer.set_linger_limits({.bytes = 13});
      writer.write("more than four");
    }
    EXPECT_EQ(co_await error_of(far.read_all(100)), "read_some memory: Connection reset by peer");
  });
}

TEST(stream_writer, wait_closed_with_limits_gives_up_and_aborts) {
  run_virtual([]() -> gyre::task<> {
    for (const gyre::linger_limits limits : {gyre::linger_limits{.time = 3s}, gyre::linger_limits{.bytes = 13}}) {
      gyre::memory_pair pair(4);
      gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
      writer.write("more than four");
      const bool in_time = limits.bytes < 14;
      EXPECT_EQ(co_await error_of(writer.wait_closed(limits)),
                in_time ? "wait_closed more in the buffer than linger_limits::bytes: No buffer space available"
                        : "wait_closed stream_writer: timed out after 3 s");
      EXPECT_EQ(co_await error_of(read_rest(pair.second)), "read_some memory: Connection reset by peer");
    }
    gyre::memory_pair pair;
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    writer.write("fits");
    co_await writer.wait_closed({.time = 1s, .bytes = 4});
  });
}

TEST(stream_writer, a_cancel_at_any_await_of_its_end_leaves_one_that_can_be_aborted) {
  gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        both_ways two(3);
        two.writer.write("0123456789");
        bool cancelled = false;
        try {
          auto both = gyre::gather(two.writer.wait_closed(gyre::linger_limits{.time = 1s}), two.far.read_all(100));
          co_await std::move(both);
        } catch (const gyre::cancelled&) {
          cancelled = true;
        }
        two.writer.abort();
        co_await gyre::shield(two.writer.wait_closed());
        if (cancelled) gyre::throw_cancelled();
      },
      [](bool) {});
}

TEST(stream_writer, a_cancelled_drain_stops_waiting_and_the_buffer_is_sent) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(10);
    two.writer.set_write_limits({.high = 5, .low = 0});
    two.writer.write(std::string(40, 'a'));
    auto draining = gyre::spawn(two.writer.drain());
    co_await gyre::sleep(1ms);
    draining.cancel();
    co_await draining.wait();
    EXPECT_TRUE(draining.state().was_cancelled());
    EXPECT_EQ((co_await two.far.read_exactly(40)).size(), 40U);
    co_await two.writer.flush();
  });
}

TEST(stream_writer, that_is_destroyed_while_another_task_waits_for_it_stops_the_program) {
  const auto destroy_while = [](auto wait) {
    run_virtual([&]() -> gyre::task<> {
      auto pair = gyre::memory_pair(16);
      std::optional<gyre::stream_writer> writer(gyre::any_stream(std::move(pair.first)));
      writer->set_write_limits({.high = 100, .low = 50});
      writer->write(std::string(1000, 'x'));
      auto waiting = gyre::spawn(wait(*writer));
      co_await gyre::sleep(1ms);
      writer.reset();
      gyre::stream_reader reader(gyre::any_stream(std::move(pair.second)));
      (void)co_await reader.read_all(2000);
      co_await waiting;
    });
  };
  const std::string sentence = "a stream_writer was destroyed while a task waits in its ";
  EXPECT_DEATH(destroy_while([](gyre::stream_writer& w) -> gyre::task<> { co_await w.wait_closed(); }),
               sentence + "wait_closed");
  EXPECT_DEATH(destroy_while([](gyre::stream_writer& w) -> gyre::task<> { co_await w.wait_closed({.time = 1h}); }),
               sentence + "wait_closed");
  EXPECT_DEATH(destroy_while([](gyre::stream_writer& w) -> gyre::task<> { co_await w.write_eof(); }),
               sentence + "write_eof");
  EXPECT_DEATH(destroy_while([](gyre::stream_writer& w) -> gyre::task<> { co_await w.flush(); }), sentence + "flush");
  EXPECT_DEATH(destroy_while([](gyre::stream_writer& w) -> gyre::task<> { co_await w.drain(); }), sentence + "drain");
}

TEST(stream_writer, that_is_moved_while_a_task_waits_for_it_goes_on) {
  run_virtual([]() -> gyre::task<> {
    auto pair = gyre::memory_pair(16);
    gyre::stream_writer writer(gyre::any_stream(std::move(pair.first)));
    writer.write(std::string(1000, 'x'));
    auto closing = gyre::spawn(writer.wait_closed({.time = 1h}));
    co_await gyre::sleep(1ms);
    const gyre::stream_writer moved(std::move(writer));
    gyre::stream_reader reader(gyre::any_stream(std::move(pair.second)));
    EXPECT_EQ((co_await reader.read_all(2000)).size(), 1000U);
    co_await closing;
  });
}

TEST(stream_writer, a_loop_that_ends_with_a_full_buffer_ends) {
  std::optional<gyre::memory_stream> far;  // never read
  run_virtual([&]() -> gyre::task<> {
    gyre::memory_pair pair(2);
    far.emplace(std::move(pair.second));
    gyre::stream_writer writer{gyre::any_stream(std::move(pair.first))};
    writer.write("more than two");
    co_return;
  });
}

TEST(stream_writer, a_loop_that_ends_with_a_full_buffer_aborts_the_stream) {
  struct stuck {
    bool* aborted;
    gyre::task<std::size_t> read_some(std::span<std::byte>) { co_return 0; }
    gyre::task<> write_all(std::span<const std::byte>) { co_await gyre::sleep(std::chrono::hours(100'000)); }
    gyre::task<> shutdown_write() { co_return; }
    void abort() noexcept { *aborted = true; }
  };
  bool aborted = false;
  run_virtual([&]() -> gyre::task<> {
    gyre::stream_writer writer{gyre::any_stream(stuck{&aborted})};
    writer.set_linger_limits({.time = std::chrono::nanoseconds::max()});
    writer.write("this is never taken");
    co_return;
  });
  EXPECT_TRUE(aborted);
}

TEST(shared_stream, that_was_moved_from_has_copies_that_are_as_empty) {
  gyre::shared_stream stream(gyre::any_stream(std::move(gyre::memory_pair().first)));
  const gyre::shared_stream owner = std::move(stream);
  const gyre::shared_stream copy = stream;  // NOLINT(bugprone-use-after-move): that is the test
  EXPECT_FALSE(copy);
  EXPECT_FALSE(owner.is_shared());
  EXPECT_DEATH(copy->abort(), "an operation on a shared_stream that is closed or was moved from");
}
