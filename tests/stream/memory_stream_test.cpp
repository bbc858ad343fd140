// tests/stream/memory_stream_test.cpp: a connection in memory behaves like one over TCP.
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/copy.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/stream/stream_ends.hpp"
#include "tests/stream/stream_text.hpp"
#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>

using namespace gyre_test;

TEST(memory_stream, brings_bytes_both_ways_in_order_and_ends) {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{5}, std::size_t{1} << 16U}) {
    run_virtual([capacity]() -> gyre::task<> {
      gyre::memory_pair pair(capacity);
      auto all = gyre::gather(write_and_end(pair.first, numbers(500)), write_and_end(pair.second, numbers(300)),
                              read_all(pair.first), read_all(pair.second));
      auto results = co_await std::move(all);
      EXPECT_EQ(results.get<2>(), numbers(300));
      EXPECT_EQ(results.get<3>(), numbers(500));
    });
  }
}

TEST(memory_stream, makes_the_writer_wait_while_its_capacity_is_unread) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    auto writer = gyre::spawn(pair.first.write_all(bytes("123456")));
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(writer.done());
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(co_await pair.second.read_some(buffer), 4U);
    EXPECT_EQ(co_await writer, 6U);
    EXPECT_EQ(co_await pair.second.read_some(buffer), 2U);
  });
}

TEST(memory_stream, never_interleaves_whole_writes_of_many_tasks) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(3);
    auto read_ten = [&]() -> gyre::task<std::string> {
      std::string got;
      std::array<char, 2> buffer;
      while (got.size() < 10) {
        const std::size_t n = co_await pair.second.read_some(std::as_writable_bytes(std::span(buffer)));
        got.append(buffer.data(), n);
      }
      co_return got;
    };
    auto all = gyre::gather(pair.first.write_all(bytes("aaaaa")), pair.first.write_all(bytes("bbbbb")), read_ten());
    auto results = co_await std::move(all);
    EXPECT_EQ(results.get<2>(), "aaaaabbbbb");
  });
}

TEST(memory_stream, that_is_destroyed_ends_the_other_end) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    std::optional<gyre::memory_stream> gone(std::move(pair.first));
    auto reader = gyre::spawn(read_all(pair.second));
    auto writer = gyre::spawn([&]() -> gyre::task<> { (void)co_await pair.second.write_all(bytes("more than four")); });
    co_await gyre::sleep(1ms);
    gone.reset();
    EXPECT_EQ(co_await reader, "");
    EXPECT_EQ(co_await error_of(std::move(writer)), "write_all memory: Broken pipe");
  });
}

TEST(memory_stream, that_is_replaced_wakes_the_reader_of_the_other_end_before_its_writer) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    std::string order;
    auto reader = gyre::spawn([&]() -> gyre::task<> {
      co_await read_all(pair.second);
      order += "reader ";
    });
    auto writer = gyre::spawn([&]() -> gyre::task<> {
      (void)co_await error_of(pair.second.write_all(bytes("more than four")));
      order += "writer ";
    });
    co_await gyre::sleep(1ms);
    pair.first = gyre::memory_stream();
    co_await reader;
    co_await writer;
    EXPECT_EQ(order, "reader writer ");
  });
}

TEST(memory_stream, refuses_a_write_after_one_that_was_cut_off) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    auto writer = gyre::spawn(pair.first.write_all(bytes("123456")));
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(co_await cancel_and_wait(writer));
    EXPECT_THROW((void)co_await pair.first.write_all(bytes("x")), gyre::io_error);
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(co_await pair.second.read_some(buffer), 4U);
  });
}

TEST(memory_stream, leaks_nothing_when_reader_and_writer_are_cancelled_at_any_await) {
  gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::memory_pair pair(3);
        auto both = gyre::gather(write_and_end(pair.first, "0123456789"), read_all(pair.second));
        co_await std::move(both);
      },
      [](bool) {});
}

TEST(memory_stream, puts_back_the_bytes_of_a_cancelled_read_exactly) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    std::array<std::byte, 20> buffer;
    auto reading = gyre::spawn(pair.second.read_exactly(buffer));
    (void)co_await pair.first.write_all(bytes("abcdef"));
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(co_await cancel_and_wait(reading));
    (void)co_await pair.first.write_all(bytes("ghij"));
    co_await pair.first.shutdown_write();
    EXPECT_EQ(co_await read_all(pair.second), "abcdefghij");
  });
}

TEST(memory_stream, lets_other_tasks_run_in_reads_that_need_not_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair;
    (void)co_await pair.first.write_all(bytes(std::string(2000, 'x')));
    auto read = [&]() -> gyre::task<> {
      std::array<std::byte, 1> one{};
      for (int i = 0; i < 1000; ++i) (void)co_await pair.second.read_some(one);
      for (int i = 0; i < 1000; ++i) (void)co_await pair.second.read_exactly(one);
    };
    EXPECT_GE(co_await turns_of_others_during(read()), 20);
  });
}

TEST(memory_stream_death, that_two_tasks_read_stops_the_program) {
  const auto read_twice = [] {
    run_virtual([]() -> gyre::task<> {
      gyre::memory_pair pair;
      auto both = gyre::gather(read_all(pair.first), read_all(pair.first));
      co_await std::move(both);
    });
  };
  EXPECT_DEATH(read_twice(), "two tasks read from one memory_stream at the same time: let one task read");
}

TEST(memory_stream_death, that_is_destroyed_while_a_task_uses_it_stops_the_program) {
  const auto destroy_while = [](auto use) {
    run_virtual([&]() -> gyre::task<> {
      gyre::memory_pair pair(4);
      std::optional<gyre::memory_stream> used(std::move(pair.first));
      auto task = gyre::spawn([&]() -> gyre::task<> { co_await use(*used); });
      co_await gyre::sleep(1ms);
      used.reset();
      co_await task;
    });
  };
  const char* const sentence =
      "a memory_stream was destroyed while another task reads from it or writes to it: cancel and await that task "
      "first";
  EXPECT_DEATH(destroy_while([](auto& s) -> gyre::task<> { (void)co_await read_all(s); }), sentence);
  EXPECT_DEATH(destroy_while([](auto& s) -> gyre::task<> { (void)co_await s.write_all(bytes("12345")); }), sentence);
}

TEST(memory_stream, that_is_aborted_lets_the_other_end_read_what_was_written_and_then_see_the_reset) {
  run_virtual([]() -> gyre::task<> {
    for (const std::size_t capacity : {std::size_t{4}, std::size_t{100}}) {
      gyre::memory_pair pair(capacity);
      auto writing = gyre::spawn(pair.first.write_all(bytes("abcdef")));
      co_await gyre::sleep(1ms);
      EXPECT_EQ(writing.done(), capacity >= 6);
      pair.first.abort();
      EXPECT_EQ(co_await error_of(std::move(writing)), capacity >= 6 ? "" : "write_all memory: Broken pipe");
      std::array<std::byte, 2> two;
      EXPECT_EQ(co_await pair.second.read_some(two), 2U);
      EXPECT_EQ(co_await pair.second.read_exactly(two), 2U);
      EXPECT_EQ(co_await error_of(read_all(pair.second)), reset_by_peer);
      EXPECT_EQ(co_await error_of(pair.second.read_exactly(two)), "read_exactly memory: Connection reset by peer");
    }
  });
}

TEST(memory_stream, that_is_aborted_drops_what_it_has_not_read_and_ends_writes_to_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(4);
    auto writing = gyre::spawn(pair.second.write_all(bytes("abcdef")));
    co_await gyre::sleep(1ms);
    pair.first.abort();
    EXPECT_EQ(co_await error_of(std::move(writing)), "write_all memory: Broken pipe");
    EXPECT_EQ(co_await error_of(read_all(pair.first)), reset_by_peer);
  });
}

TEST(memory_stream, whose_write_was_cut_off_ends_with_a_reset) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(10);
    const auto cut = co_await gyre::as_expected(gyre::timeout(1ms, pair.first.write_all(bytes("a whole message"))));
    EXPECT_FALSE(cut.has_value());
    EXPECT_EQ(co_await error_of(pair.first.shutdown_write()),
              "shutdown_write memory: " + gyre::make_error_code(gyre::stream_errc::write_cut_off).message());
    {
      const gyre::memory_stream gone = std::move(pair.first);
    }
    EXPECT_EQ(co_await error_of(read_all(pair.second)), reset_by_peer);
  });
}

TEST(memory_stream, that_waits_for_its_next_message_sees_a_message_an_end_or_the_request_to_stop) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(10);
    auto next = gyre::spawn(pair.second.next_or_stop());
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(next.done());
    (void)co_await pair.first.write_all(bytes("a"));
    EXPECT_TRUE(co_await next);
    std::array<std::byte, 10> buffer;
    EXPECT_EQ(co_await pair.second.read_some(buffer), 1U);
    auto last = gyre::spawn(pair.second.next_or_stop());
    co_await gyre::sleep(1ms);
    gyre::request_stop();
    EXPECT_FALSE(co_await last);
    EXPECT_FALSE(pair.second.has_ended());
    co_await pair.first.shutdown_write();
    EXPECT_FALSE(co_await pair.second.next_or_stop());
    EXPECT_TRUE(pair.second.has_ended());
  });
}
