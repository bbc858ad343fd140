// tests/sync/queue_test.cpp: items from producers to consumers. None is lost or duplicated.
#include <gyre/sync/queue.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(queue, gives_items_in_the_order_in_which_they_were_put) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(10);
    for (int i = 0; i < 5; ++i) co_await queue.put(i);
    EXPECT_EQ(queue.size(), 5U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(co_await queue.get(), i);
    EXPECT_TRUE(queue.empty());
  });
}

TEST(queue, makes_the_producer_wait_when_it_is_full) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(2);
    int put = 0;
    auto producer = gyre::spawn([&]() -> gyre::task<> {
      for (; put < 5; ++put) co_await queue.put(put);
    });
    co_await gyre::sleep(1ms);
    EXPECT_EQ(put, 2);
    EXPECT_TRUE(queue.full());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(co_await queue.get(), i);
    co_await producer;
  });
}

TEST(queue, serves_consumers_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(1);
    std::vector<int> got(3, -1);
    std::vector<gyre::task_handle<void>> consumers;
    for (std::size_t i = 0; i < 3; ++i)
      consumers.push_back(gyre::spawn([&, i]() -> gyre::task<> { got[i] = co_await queue.get(); }));
    co_await gyre::yield();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.try_put(i));
    for (auto& each : consumers) co_await each;
    EXPECT_EQ(got, (std::vector{0, 1, 2}));
  });
}

TEST(queue, never_waits_when_it_is_only_tried) {
  gyre::queue<std::string> queue(1);
  EXPECT_FALSE(queue.try_get());
  std::string second = "second";
  EXPECT_TRUE(queue.try_put("first"));
  EXPECT_FALSE(queue.try_put(second));
  EXPECT_EQ(second, "second") << "an item that was not taken is as it was";
  EXPECT_EQ(queue.try_get(), "first");
}

TEST(queue, holds_what_can_only_be_moved) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<std::unique_ptr<int>> queue(1);
    co_await queue.put(std::make_unique<int>(7));
    EXPECT_EQ(*co_await queue.get(), 7);
  });
}

TEST(queue, join_waits_until_every_item_has_been_dealt_with) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(10);
    co_await queue.join();  // nothing to wait for
    for (int i = 0; i < 3; ++i) co_await queue.put(i);
    bool joined = false;
    auto joiner = gyre::spawn([&]() -> gyre::task<> {
      co_await queue.join();
      joined = true;
    });
    for (int i = 0; i < 3; ++i) {
      (void)co_await queue.get();
      co_await gyre::sleep(1ms);
      EXPECT_FALSE(joined);
      queue.task_done();
    }
    co_await joiner;
  });
}

TEST(queue, that_is_shut_down_gives_what_it_has_and_takes_nothing) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(1);
    co_await queue.put(1);
    auto putter = gyre::spawn([&]() -> gyre::task<> { co_await queue.put(2); });
    co_await gyre::yield();
    queue.shut_down();
    EXPECT_THROW(co_await putter, gyre::queue_shut_down);
    EXPECT_THROW(co_await queue.put(3), gyre::queue_shut_down);
    EXPECT_EQ(co_await queue.get(), 1);
    EXPECT_THROW(co_await queue.get(), gyre::queue_shut_down);
    const auto outcome = co_await gyre::as_expected(queue.get());
    EXPECT_EQ(outcome.error(), gyre::sync_errc::shut_down);
  });
}

TEST(queue, that_is_shut_down_immediately_drops_its_items_and_ends_join) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(3);
    for (int i = 0; i < 3; ++i) co_await queue.put(i);
    auto joiner = gyre::spawn([&]() -> gyre::task<> { co_await queue.join(); });
    co_await gyre::yield();
    queue.shut_down(gyre::queue_shutdown_mode::immediate);
    co_await joiner;
    EXPECT_THROW(co_await queue.get(), gyre::queue_shut_down);
  });
}

TEST(queue, a_shutdown_ends_consumers_that_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(1);
    auto consumer = gyre::spawn([&]() -> gyre::task<int> { co_return co_await queue.get(); });
    co_await gyre::yield();
    queue.shut_down();
    EXPECT_THROW(co_await consumer, gyre::queue_shut_down);
  });
}

TEST(queue, a_cancelled_put_puts_nothing_and_a_cancelled_get_takes_nothing) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(1);
    auto getter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await queue.get(); });
    co_await gyre::yield();
    getter.cancel();
    co_await queue.put(1);
    auto putter = gyre::spawn([&]() -> gyre::task<> { co_await queue.put(2); });
    co_await gyre::yield();
    putter.cancel();
    co_await putter.wait();
    EXPECT_EQ(co_await queue.get(), 1);
    EXPECT_TRUE(queue.empty());
    co_await getter.wait();
  });
}

TEST(lifo_queue, gives_the_last_first) {
  run_virtual([]() -> gyre::task<> {
    gyre::lifo_queue<int> queue(3);
    for (int i = 0; i < 3; ++i) co_await queue.put(i);
    for (int i = 2; i >= 0; --i) EXPECT_EQ(co_await queue.get(), i);
  });
}

TEST(priority_queue, gives_the_smallest_first_and_equals_in_their_order) {
  run_virtual([]() -> gyre::task<> {
    struct job {
      int priority;
      int number;
      bool operator<(const job& other) const { return priority < other.priority; }
    };
    gyre::priority_queue<job> queue(100);
    unsigned state = 1;
    for (int i = 0; i < 100; ++i) {
      state = state * 1'664'525U + 1'013'904'223U;
      const job next{static_cast<int>(state >> 28U), i};  // named: g++ 12 loses braces in an await expression
      co_await queue.put(next);
    }
    job last{-1, -1};
    for (int i = 0; i < 100; ++i) {
      const job next = co_await queue.get();
      EXPECT_LE(last.priority, next.priority);
      if (last.priority == next.priority) EXPECT_LT(last.number, next.number);
      last = next;
    }
  });
}

TEST(unbounded_queue, takes_any_number_of_items_at_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::unbounded_queue<int> queue;
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(queue.try_put(i));
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(co_await queue.get(), i);
  });
}

TEST(queue_death, a_queue_without_room_or_with_too_many_items_done_stops_the_program) {
  EXPECT_DEATH(gyre::queue<int>(0), "room for one item");
  gyre::queue<int> queue(1);
  EXPECT_DEATH(queue.task_done(), "more often");
}
