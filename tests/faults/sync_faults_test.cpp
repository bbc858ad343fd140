// tests/faults/sync_faults_test.cpp: a failed allocation between tasks or threads costs the operation that needed it.
#include <gyre/sync.hpp>

#include "tests/faults/injector.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

class sync_faults : public faults {};

/// Memory of its own, in the order of its number.
std::string large_item(int number = 0) { return std::to_string(1'000 + number) + std::string(100, 'x'); }

/// Puts items in from one task and takes them out in another. An item is put or not. After a failure, `put` and `take`
/// can be used on.
template <class Put, class Take, class Size>
gyre::task<> pass(fault_injection& f, Put put, Take take, Size size) {
  constexpr int items = 20;
  std::size_t held = 0;
  const auto putting = [&]() -> gyre::task<> {
    for (int i = 0; i < items; ++i, ++held) co_await put(large_item(i));
  };
  const auto taking = [&]() -> gyre::task<> {
    for (int i = 0; i < items; ++i, --held) co_await take();
  };
  const auto both = [&]() -> gyre::task<> {
    auto all = gyre::gather(putting(), taking());
    co_await std::move(all);
  };
  const auto again = [&](bool) -> gyre::task<> {
    EXPECT_EQ(size(), held);
    co_await both();
    EXPECT_EQ(size(), held);
  };
  co_await fail_and_check(f, both, again);
}

template <class Queue>
gyre::task<> pass_on(fault_injection& f, Queue& queue) {
  const auto put = [&](std::string item) -> gyre::task<> { co_await queue.put(std::move(item)); };
  const auto take = [&]() -> gyre::task<> { (void)co_await queue.get(); };
  co_await pass(f, put, take, [&] { return queue.size(); });
}

/// Offers an item, which stays where it was when that fails.
template <class Offer, class Poll>
gyre::task<> offer_one(fault_injection& f, Offer offer, Poll poll) {
  std::string item = large_item();
  const auto offers = [&]() -> gyre::task<> {
    EXPECT_TRUE(offer(item));
    co_return;
  };
  const auto check = [&](bool failed) {
    if (failed) EXPECT_EQ(item, large_item());
    EXPECT_EQ(poll(), failed ? std::nullopt : std::optional(large_item()));
  };
  co_await fail_and_check(f, offers, check);
}

}  // namespace

TEST_P(sync_faults, a_channel_can_be_used_on_and_keeps_the_order_of_its_items) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::channel<std::string> channel(3);
    std::string last;
    const auto put = [&](std::string item) -> gyre::task<> { co_await channel.send(std::move(item)); };
    const auto take = [&]() -> gyre::task<> {
      std::string item = (co_await channel.receive()).value();
      EXPECT_TRUE(item > last || item.starts_with("1000x")) << "out of order";
      last = std::move(item);
    };
    co_await pass(f, put, take, [&] { return channel.size(); });
  });
}

TEST_P(sync_faults, a_shared_channel_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::shared_channel<std::string> channel(3);
    const auto send_and_receive = [&]() -> gyre::task<> {
      for (int i = 0; i < 20; ++i) {
        co_await channel.send(large_item(i));
        EXPECT_EQ(co_await channel.receive(), large_item(i));
      }
    };
    const auto again = [&](bool) -> gyre::task<> {
      (void)channel.try_receive();
      co_await send_and_receive();
    };
    co_await fail_and_check(f, send_and_receive, again);
  });
}

TEST_P(sync_faults, a_thread_that_cannot_send_leaves_the_channel_open) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::shared_channel<int> channel(8);
    const auto send = [&]() -> gyre::task<> {
      std::exception_ptr failure;
      std::thread([&] {
        try {
          EXPECT_TRUE(channel.blocking_send(1));
        } catch (const std::bad_alloc&) {
          failure = std::current_exception();
        }
      }).join();
      if (failure) std::rethrow_exception(failure);
      co_return;
    };
    const auto check = [&](bool failed) {
      EXPECT_EQ(channel.try_receive(), failed ? std::nullopt : std::optional(1));
      EXPECT_TRUE(channel.try_send(2));
    };
    co_await fail_and_check(f, send, check);
  });
}

TEST_P(sync_faults, a_queue_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::queue<std::string> queue(30);
    co_await pass_on(f, queue);
  });
}

TEST_P(sync_faults, a_priority_queue_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::priority_queue<std::string> queue(30);
    co_await pass_on(f, queue);
  });
}

TEST_P(sync_faults, a_lifo_queue_can_be_used_on) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::lifo_queue<std::string> queue(30);
    co_await pass_on(f, queue);
  });
}

TEST_P(sync_faults, an_item_that_a_queue_cannot_take_stays_where_it_was) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::priority_queue<std::string> queue(10);
    co_await offer_one(f, [&](std::string& item) { return queue.try_put(item); }, [&] { return queue.try_get(); });
  });
}

TEST_P(sync_faults, an_item_that_a_shared_channel_cannot_take_stays_where_it_was) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::shared_channel<std::string> channel(8);
    co_await offer_one(
        f, [&](std::string& item) { return channel.try_send(item); }, [&] { return channel.try_receive(); });
  });
}

TEST_P(sync_faults, an_item_that_a_broadcast_cannot_copy_is_there_for_the_next_receive) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::broadcast<std::string> broadcast(4);
    std::optional<gyre::broadcast_subscription<std::string>> subscription;
    bool sent = false;
    const auto receive = [&]() -> gyre::task<> {
      subscription.emplace(broadcast.subscribe());
      broadcast.send(large_item());
      sent = true;
      (void)co_await subscription->receive();
    };
    const auto check = [&](bool failed) -> gyre::task<> {
      if (!failed || !sent) co_return;
      const auto item = co_await subscription->receive();
      EXPECT_TRUE(item && item->value == large_item() && item->missed == 0);
    };
    co_await fail_and_check(f, receive, check);
  });
}

TEST_P(sync_faults, a_oneshot_is_made_or_not) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    gyre::oneshot<std::string> result;
    co_await gyre::yield();
  });
}

TEST_P(sync_faults, a_link_of_a_chain_that_cannot_begin_gives_the_lock_back) {
  survives([](fault_injection& f) -> gyre::task<> {
    gyre::mutex mutex;
    gyre::channel<int> channel(8);
    const auto lock_and_send = [&]() -> gyre::task<> { co_await (mutex.lock() && channel.send(1)); };
    const auto check = [&](bool failed) {
      EXPECT_EQ(mutex.is_locked(), !failed);
      EXPECT_EQ(channel.try_receive(), failed ? std::nullopt : std::optional(1));
    };
    co_await fail_and_check(f, lock_and_send, check);
  });
}

TEST_P(sync_faults, a_callback_gives_its_value) {
  survives([](fault_injection& f) -> gyre::task<> {
    std::thread thread;
    const auto call = [&]() -> gyre::task<> {
      auto waiting = gyre::from_callback<std::string>([](auto done) { done(large_item()); });
      EXPECT_EQ(co_await std::move(waiting), large_item());
      auto later = gyre::from_callback<std::string>([&](auto done) {
        thread = std::thread([done] {
          try {
            done(large_item());
          } catch (...) {
            done.fail(std::current_exception());
          }
        });
      });
      (void)co_await std::move(later);
    };
    const auto join = [&](bool) {
      if (thread.joinable()) thread.join();
    };
    co_await fail_and_check(f, call, join);
  });
}

TEST_P(sync_faults, a_task_that_another_thread_waits_for_ends_and_leaves_nothing_over) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto& loop = gyre::event_loop::current();
    const auto owned = std::make_shared<int>(3);
    std::atomic<bool> ended = false;
    f.arm();
    auto work = [](std::shared_ptr<int> kept) -> gyre::task<int> {
      co_await gyre::sleep(1ms);
      co_return *kept;
    };
    std::thread thread([&] {
      try {
        auto handle = gyre::run_coroutine_threadsafe(loop, work(owned));
        EXPECT_TRUE(handle.wait_for(20s));
        EXPECT_EQ(handle.get(), 3);
      } catch (const std::bad_alloc&) {  // on either thread
      }
      ended = true;
    });
    while (!ended) co_await gyre::sleep(1ms);
    thread.join();
    co_await gyre::yield();
    EXPECT_EQ(owned.use_count(), 1);
  });
}

INSTANTIATE_TEST_SUITE_P(one, sync_faults, testing::Values(fault_kind::allocation, fault_kind::shortage), kind_name);
