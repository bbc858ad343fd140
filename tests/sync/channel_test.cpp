// tests/sync/channel_test.cpp: streams of items that end.
#include <gyre/sync/channel.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

TEST(channel, is_received_until_it_is_closed_and_empty) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<int> channel(2);
    auto producer = gyre::spawn([&]() -> gyre::task<> {
      for (int i = 0; i < 5; ++i) co_await channel.send(i);
      channel.close();
    });
    std::vector<int> got;
    while (auto item = co_await channel.receive()) got.push_back(*item);
    EXPECT_EQ(got, (std::vector{0, 1, 2, 3, 4}));
    EXPECT_FALSE(co_await channel.receive());
    co_await producer;
  });
}

TEST(channel, hands_items_from_one_task_to_the_other_when_it_has_no_capacity) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<int> channel(0);
    int sent = 0;
    auto producer = gyre::spawn([&]() -> gyre::task<> {
      for (; sent < 3; ++sent) co_await channel.send(sent);
    });
    co_await gyre::sleep(1ms);
    EXPECT_EQ(sent, 0) << "nobody has taken anything";
    EXPECT_FALSE(channel.try_send(9));
    EXPECT_EQ(channel.try_receive(), 0);
    co_await gyre::sleep(1ms);
    EXPECT_EQ(sent, 1);
    EXPECT_EQ(co_await channel.receive(), 1);
    EXPECT_EQ(co_await channel.receive(), 2);
    co_await producer;
  });
}

TEST(channel, that_is_closed_fails_senders_that_wait_and_that_come_later) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<int> channel(0);
    auto sender = gyre::spawn([&]() -> gyre::task<> { co_await channel.send(1); });
    co_await gyre::yield();
    channel.close();
    EXPECT_THROW(co_await sender, gyre::channel_closed);
    EXPECT_THROW(co_await channel.send(2), gyre::channel_closed);
    EXPECT_FALSE(channel.try_send(3));
    EXPECT_FALSE(co_await channel.receive());
  });
}

TEST(channel, that_is_closed_lets_receivers_go_with_nothing) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<std::unique_ptr<int>> channel(1);
    auto receiver = gyre::spawn([&]() -> gyre::task<bool> { co_return (co_await channel.receive()).has_value(); });
    co_await gyre::yield();
    channel.close();
    channel.close();
    EXPECT_FALSE(co_await receiver);
  });
}
