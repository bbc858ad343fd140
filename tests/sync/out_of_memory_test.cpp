// tests/sync/out_of_memory_test.cpp: a failed allocation costs one operation: the await throws, and nothing is lost.
#include <gyre/gyre.hpp>
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#ifndef GYRE_NO_FRAME_POOL  // sanitizers have their own operator new

#include "tests/support/failing_allocations.hpp"

#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

/// Puts items until the storage needs memory, whose allocation fails. Returns the number of items put before that.
template <class Put>
gyre::task<int> put_until_memory_is_missing(Put put) {
  for (int i = 0; i < 1000; ++i) {
    try {
      const fail_one_allocation failing;
      co_await put(i);
    } catch (const std::bad_alloc&) {
      co_return i;
    }
  }
  throw std::runtime_error("no allocation failed");
}

template <class Queue>
void put_throws_and_goes_on() {
  run_virtual([]() -> gyre::task<> {
    Queue queue(1000);
    auto put = [&](int i) { return queue.put(i); };
    const int count = co_await put_until_memory_is_missing(put);
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(count));
    co_await queue.put(-1);
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(count) + 1);
  });
}

}  // namespace

TEST(queue_out_of_memory, put_throws_and_the_queue_goes_on) { put_throws_and_goes_on<gyre::queue<int>>(); }

TEST(queue_out_of_memory, put_into_a_priority_queue_throws_and_the_queue_goes_on) {
  put_throws_and_goes_on<gyre::priority_queue<int>>();
}

TEST(queue_out_of_memory, put_into_a_lifo_queue_throws_and_the_queue_goes_on) {
  put_throws_and_goes_on<gyre::lifo_queue<int>>();
}

TEST(queue_out_of_memory, a_try_put_that_throws_leaves_the_item_where_it_was) {
  run_virtual([]() -> gyre::task<> {
    gyre::priority_queue<std::string> queue(10);
    std::string item(100, 'x');
    {
      const fail_one_allocation failing;
      EXPECT_THROW((void)queue.try_put(item), std::bad_alloc);
    }
    EXPECT_EQ(item, std::string(100, 'x'));
    EXPECT_TRUE(queue.empty());
    co_return;
  });
}

TEST(channel_out_of_memory, send_throws_and_the_channel_goes_on) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<int> channel(1000);
    auto send = [&](int i) { return channel.send(i); };
    const int count = co_await put_until_memory_is_missing(send);
    co_await channel.send(count);
    for (int i = 0; i <= count; ++i) EXPECT_EQ(co_await channel.receive(), i);
  });
}

TEST(shared_channel_out_of_memory, a_try_send_that_throws_leaves_the_lock_open_and_the_item_where_it_was) {
  gyre::shared_channel<std::string> channel(8);
  std::string item(100, 'x');
  {
    const fail_one_allocation failing;
    EXPECT_THROW((void)channel.try_send(item), std::bad_alloc);
  }
  EXPECT_EQ(item, std::string(100, 'x'));
  EXPECT_TRUE(channel.try_send(item));
  EXPECT_EQ(channel.try_receive(), std::string(100, 'x'));
}

TEST(shared_channel_out_of_memory, send_throws_and_leaves_the_lock_open) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_channel<int> channel(8);
    {
      const fail_one_allocation failing;
      EXPECT_THROW(co_await channel.send(1), std::bad_alloc);
    }
    co_await channel.send(2);
    EXPECT_EQ(co_await channel.receive(), 2);
  });
}

TEST(shared_channel_out_of_memory, blocking_send_throws_and_leaves_the_lock_open) {
  gyre::shared_channel<int> channel(8);
  for (int successes : {0, 1}) {  // first the semaphore of the thread fails, then the storage of the channel
    const fail_one_allocation failing(successes);
    EXPECT_THROW(channel.blocking_send(1), std::bad_alloc);
  }
  EXPECT_TRUE(channel.blocking_send(2));
  EXPECT_EQ(channel.blocking_receive(), 2);
}

TEST(operation_out_of_memory, an_await_whose_start_throws_leaves_a_task_that_can_be_cancelled) {
  struct failing_op : gyre::operation<failing_op> {
    bool try_now() noexcept { return false; }
    void start() { throw std::bad_alloc(); }
    void on_cancel() noexcept {}
    void await_resume() noexcept {}
  };
  run_virtual([]() -> gyre::task<> {
    auto worker = gyre::spawn([]() -> gyre::task<> {
      failing_op op;
      EXPECT_THROW(co_await op, std::bad_alloc);
      EXPECT_THROW(co_await op, std::bad_alloc) << "it has not begun, so it may be awaited once more";
      const gyre::task_context& task = co_await gyre::this_task_context{};
      EXPECT_EQ(task.leaf, nullptr);
      EXPECT_EQ(task.innermost, nullptr);
      co_await gyre::sleep(1h);
    });
    co_await gyre::yield();
    worker.cancel();
    co_await worker.wait();
    EXPECT_TRUE(worker.state().was_cancelled());
  });
}

TEST(operation_out_of_memory, a_limited_await_whose_start_throws_arms_no_timer) {
  struct failing_op : gyre::operation<failing_op> {
    bool try_now() noexcept { return false; }
    void start() { throw std::bad_alloc(); }
    void on_cancel() noexcept {}
    std::expected<void, std::error_code> take_result() { return {}; }
    [[noreturn]] void fail(std::error_code reason) { throw std::system_error(reason); }
    void await_resume() noexcept {}
  };
  run_virtual([]() -> gyre::task<> {
    EXPECT_THROW(co_await gyre::timeout(1s, failing_op()), std::bad_alloc);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(chain_out_of_memory, a_link_that_cannot_begin_throws_and_the_lock_is_given_back) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::channel<int> channel(8);
    {
      const fail_one_allocation failing;
      EXPECT_THROW(co_await (mutex.lock() && channel.send(1)), std::bad_alloc);
    }
    EXPECT_FALSE(mutex.is_locked());
    co_await (mutex.lock() && channel.send(2));
    EXPECT_TRUE(mutex.is_locked());
    EXPECT_EQ(channel.try_receive(), 2);
    mutex.unlock();
  });
}

TEST(broadcast_out_of_memory, a_receive_that_cannot_copy_the_item_leaves_it_for_the_next_one) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<std::string> broadcast(4);
    auto subscription = broadcast.subscribe();
    broadcast.send(std::string(100, 'x'));
    {
      const fail_one_allocation failing;
      EXPECT_THROW(co_await subscription.receive(), std::bad_alloc);
    }
    const auto item = co_await subscription.receive();
    EXPECT_TRUE(item && item->value == std::string(100, 'x') && item->missed == 0);
  });
}

#endif
