// tests/stream/stream_writer_end_test.cpp: how a stream writer ends: closed, aborted, destroyed.
#include <gyre/stream/stream_writer.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/stream/stream_ends.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

using namespace gyre_test;

TEST(stream_writer, that_is_destroyed_still_sends_its_buffer) {
  run_virtual([]() -> gyre::task<> {
    writer_and_peer two(2);
    two.writer->write("sent all the same");
    two.writer.reset();
    EXPECT_EQ(co_await two.read_all(), "sent all the same");
  });
}

TEST(stream_writer, has_shown_the_end_to_the_peer_after_wait_closed_while_the_reader_lives) {
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
      const gyre::shared_stream far_shared{gyre::any_stream(std::move(pair.second))};
      gyre::stream_reader asked(far_shared);
      EXPECT_EQ(co_await asked.read_all(100), "a question");
      gyre::stream_writer answers(far_shared);
      answers.write("an answer");
      EXPECT_EQ(co_await reading.read_exactly(9), "an answer");
    }
  });
}

TEST(stream_writer, closes_a_stream_that_cannot_be_half_closed_without_an_error) {
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
    EXPECT_EQ(co_await error_of(two.far.read()), reset_by_peer);
    EXPECT_EQ(co_await error_of(std::move(waiting)), reset_by_peer);
    EXPECT_THROW(two.writer.write("late"), std::logic_error);
  });
}

TEST(stream_writer, that_is_destroyed_stops_sending_to_a_peer_that_never_reads_at_its_time_limit) {
  run_virtual([]() -> gyre::task<> {
    const auto began = gyre::now();
    writer_and_peer two;
    two.writer->set_linger_limits({.time = 7s});
    two.writer->write("more than four");
    two.writer.reset();
    co_await gyre::sleep(6s);
    std::array<std::byte, 2> buffer;
    EXPECT_EQ(co_await two.far.read_some(buffer), 2U) << "within the limit it is sent";
    co_await gyre::sleep(2s);
    EXPECT_EQ(co_await error_of(read_rest(two.far)), reset_by_peer);
    EXPECT_EQ(since(began), 8s);
  });
}

TEST(stream_writer, that_is_destroyed_with_more_than_its_limit_aborts_at_once) {
  run_virtual([]() -> gyre::task<> {
    writer_and_peer two;
    two.writer->set_linger_limits({.bytes = 13});
    two.writer->write("more than four");
    two.writer.reset();
    EXPECT_EQ(co_await error_of(two.read_all()), reset_by_peer);
  });
}

TEST(stream_writer, gives_up_and_aborts_when_wait_closed_exceeds_its_limits) {
  run_virtual([]() -> gyre::task<> {
    for (const gyre::linger_limits limits : {gyre::linger_limits{.time = 3s}, gyre::linger_limits{.bytes = 13}}) {
      writer_and_peer two;
      two.writer->write("more than four");
      EXPECT_EQ(co_await error_of(two.writer->wait_closed(limits)),
                limits.bytes < 14
                    ? "wait_closed more in the buffer than linger_limits::bytes: No buffer space available"
                    : "wait_closed stream_writer: timed out after 3 s");
      EXPECT_EQ(co_await error_of(read_rest(two.far)), reset_by_peer);
    }
    writer_and_peer two(100);
    two.writer->write("fits");
    co_await two.writer->wait_closed({.time = 1s, .bytes = 4});
  });
}

TEST(stream_writer, can_be_aborted_after_a_cancel_at_any_await_of_its_end) {
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

TEST(stream_writer_death, that_is_destroyed_while_another_task_waits_for_it_stops_the_program) {
  using writer = gyre::stream_writer;
  const auto destroy_while = [](gyre::task<> (*wait)(writer&)) {
    run_virtual([&]() -> gyre::task<> {
      writer_and_peer two(16);
      two.writer->set_write_limits({.high = 100, .low = 50});
      two.writer->write(std::string(1000, 'x'));
      auto waiting = gyre::spawn(wait(*two.writer));
      co_await gyre::sleep(1ms);
      two.writer.reset();
      (void)co_await two.read_all();
      co_await waiting;
    });
  };
  const std::string sentence = "a stream_writer was destroyed while a task waits in its ";
  EXPECT_DEATH(destroy_while([](writer& w) -> gyre::task<> { co_await w.wait_closed(); }), sentence + "wait_closed");
  EXPECT_DEATH(destroy_while([](writer& w) -> gyre::task<> { co_await w.wait_closed({.time = 1h}); }),
               sentence + "wait_closed");
  EXPECT_DEATH(destroy_while([](writer& w) -> gyre::task<> { co_await w.write_eof(); }), sentence + "write_eof");
  EXPECT_DEATH(destroy_while([](writer& w) -> gyre::task<> { co_await w.flush(); }), sentence + "flush");
  EXPECT_DEATH(destroy_while([](writer& w) -> gyre::task<> { co_await w.drain(); }), sentence + "drain");
}

TEST(stream_writer, aborts_the_stream_when_the_loop_ends_with_a_full_buffer) {
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
