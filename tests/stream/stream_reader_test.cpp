// tests/stream/stream_reader_test.cpp: asyncio's StreamReader.
#include <gyre/stream/stream_reader.hpp>

#include "tests/stream/stream_ends.hpp"
#include "tests/support/turns_of_others.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace gyre_test;

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

TEST(stream_reader, keeps_a_line_over_the_limit_which_is_an_error) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("0123456789\n");
    EXPECT_EQ(co_await error_of(two.reader.read_line(5)), "read_line more than the limit of 5 bytes: Message too long");
    EXPECT_EQ(co_await two.reader.read(4), "0123");
    EXPECT_EQ(co_await two.reader.read_line(), "456789");
  });
}

TEST(stream_reader, takes_a_line_of_exactly_the_limit_with_either_end_and_at_the_end_of_the_stream) {
  run_virtual([]() -> gyre::task<> {
    for (const std::string end : {"\n", "\r\n", ""}) {
      for (const std::string line : {"", "1", "12345"}) {
        if (line.empty() && end.empty()) continue;
        for (std::size_t cut = 0; cut <= line.size() + end.size(); ++cut) {
          ends two;
          auto reading = gyre::spawn(two.reader.read_line(line.size()));
          const std::string text = line + end;
          co_await two.say_in_two_parts_and_end(text, cut);
          EXPECT_EQ(co_await reading, line) << "cut at " << cut;
        }
      }
    }
  });
}

TEST(stream_reader, refuses_a_line_one_byte_over_the_limit_with_either_end_and_at_the_end_of_the_stream) {
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

TEST(stream_reader, refuses_a_line_that_is_too_long_before_its_end_has_come) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say("123456");
    EXPECT_NE(co_await error_of(two.reader.read_line(5)), "");
  });
}

TEST(stream_reader, finds_a_separator_wherever_it_is_cut) {
  run_virtual([]() -> gyre::task<> {
    const std::string text = "head\r\n\r\nbody";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      ends two;
      auto found = gyre::spawn(two.reader.read_until("\r\n\r\n"));
      co_await two.say_in_two_parts_and_end(text, cut);
      EXPECT_EQ(co_await found, "head\r\n\r\n");
      EXPECT_EQ(co_await two.reader.read_all(100), "body");
    }
  });
}

TEST(stream_reader, stops_at_the_separator_that_ends_first_of_several) {
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

TEST(stream_reader, reports_that_a_separator_is_missing_and_keeps_the_bytes) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("no end");
    EXPECT_THROW((void)co_await two.reader.read_until("|"), gyre::incomplete_transfer);
    EXPECT_THROW((void)co_await two.reader.read_until("|", 3), gyre::io_error);
    EXPECT_EQ(co_await two.reader.read(), "no end");
    EXPECT_EQ(co_await two.reader.read(), "");
  });
}

TEST(stream_reader, waits_for_all_bytes_of_read_exactly_and_keeps_them_when_the_stream_ends) {
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

TEST(stream_reader, loses_nothing_in_a_cancelled_read) {
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

TEST(stream_reader, lets_other_tasks_run_in_reads_that_need_not_wait) {
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
      co_return co_await turns_of_others_during(read_all());
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

TEST(stream_reader_death, that_is_destroyed_while_a_read_lets_others_run_stops_the_program) {
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

TEST(stream_reader, refuses_a_list_of_no_separators) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("abc");
    const std::vector<std::string> none;
    EXPECT_EQ(co_await error_of(two.reader.read_until_any(none)), "read_until_any: no separators: Invalid argument");
    EXPECT_EQ(co_await two.reader.read(), "abc");
  });
}

TEST(stream_reader_death, that_two_tasks_read_at_once_stops_the_program) {
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

TEST(stream_reader_death, that_is_destroyed_or_moved_while_a_task_reads_stops_the_program) {
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

TEST(stream_reader, refuses_to_read_more_than_the_limit_of_read_all) {
  run_virtual([]() -> gyre::task<> {
    ends two;
    co_await two.say_and_end("12345");
    EXPECT_THROW((void)co_await two.reader.read_all(4), gyre::io_error);
    EXPECT_EQ(co_await two.reader.read_all(5), "12345");
  });
}
