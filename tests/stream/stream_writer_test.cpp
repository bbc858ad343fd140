// tests/stream/stream_writer_test.cpp: asyncio's StreamWriter.
#include <gyre/stream/stream_writer.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/stream/stream_ends.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

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

TEST(stream_writer, makes_drain_wait_above_the_high_limit_until_the_low_one) {
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

TEST(stream_writer, takes_a_low_limit_above_the_high_one_for_the_high_one) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(10);
    two.writer.set_write_limits({.high = 50});
    two.writer.write(std::string(40, 'a'));
    co_await gyre::sleep(1ms);  // these are on their way
    two.writer.write(std::string(40, 'b'));
    auto draining = gyre::spawn(two.writer.drain());
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(draining.done());
    EXPECT_EQ((co_await two.far.read_exactly(40)).size(), 40U);
    co_await draining;
    EXPECT_LE(two.writer.buffered(), 50U);
    two.writer.abort();
  });
}

TEST(stream_writer_death, that_is_to_linger_for_a_negative_time_stops_the_program) {
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

TEST(stream_writer, throws_an_error_of_the_stream_at_the_next_wait) {
  run_virtual([]() -> gyre::task<> {
    writer_and_peer two;
    two.far = gyre::memory_stream();
    two.writer->write("hello");
    co_await gyre::yield();
    EXPECT_EQ(co_await error_of(two.writer->drain()), "write_all memory: Broken pipe");
    two.writer->write("dropped");
    two.writer->close();
    EXPECT_EQ(co_await error_of(two.writer->wait_closed()), "write_all memory: Broken pipe");
  });
}

TEST(stream_writer, sends_its_buffer_after_a_cancelled_drain) {
  run_virtual([]() -> gyre::task<> {
    both_ways two(10);
    two.writer.set_write_limits({.high = 5, .low = 0});
    two.writer.write(std::string(40, 'a'));
    EXPECT_TRUE(co_await is_cancelled_after(1ms, two.writer.drain()));
    EXPECT_EQ((co_await two.far.read_exactly(40)).size(), 40U);
    co_await two.writer.flush();
  });
}

TEST(stream_writer, that_is_moved_while_a_task_waits_for_it_goes_on) {
  run_virtual([]() -> gyre::task<> {
    writer_and_peer two(16);
    two.writer->write(std::string(1000, 'x'));
    auto closing = gyre::spawn(two.writer->wait_closed({.time = 1h}));
    co_await gyre::sleep(1ms);
    const gyre::stream_writer moved(std::move(*two.writer));
    EXPECT_EQ((co_await two.read_all()).size(), 1000U);
    co_await closing;
  });
}

TEST(shared_stream, that_was_moved_from_has_copies_that_are_as_empty) {
  gyre::shared_stream stream(gyre::any_stream(std::move(gyre::memory_pair().first)));
  const gyre::shared_stream owner = std::move(stream);
  const gyre::shared_stream copy = stream;  // NOLINT(bugprone-use-after-move): that is the test
  EXPECT_FALSE(copy);
  EXPECT_FALSE(owner.is_shared());
  EXPECT_DEATH(copy->abort(), "an operation on a shared_stream that is closed or was moved from");
}
