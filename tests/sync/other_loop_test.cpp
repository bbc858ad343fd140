// tests/sync/other_loop_test.cpp: objects that several threads use. Debug builds stop when one belongs to another loop.
#include <gyre/sync.hpp>

#include "tests/support/two_loops.hpp"
#include "tests/support/virtual_run.hpp"

#include <string>
#include <thread>
#include <utility>

using namespace gyre_test;
using gyre::task;

class used_on_another_loop_death : public debug_build_death {};

TEST_F(used_on_another_loop_death, an_event_stops_a_debug_build) {
  gyre::event happened;
  const auto first = [&] { happened.clear(); };
  expect_stop(first, [&] { happened.set(); }, elsewhere("set", "an event"));
  expect_stop(first, [&] { happened.clear(); }, elsewhere("clear", "an event"));
  expect_stop(first, [&] { (void)happened.is_set(); }, elsewhere("is_set", "an event"));
  expect_stop_in_await(first, [&] { return happened.wait(); }, elsewhere("wait", "an event"));
}

TEST_F(used_on_another_loop_death, an_event_that_is_set_already_stops_a_debug_build) {
  gyre::event happened;
  expect_stop_in_await([&] { happened.set(); }, [&] { return happened.wait(); }, elsewhere("wait", "an event"));
}

TEST_F(used_on_another_loop_death, a_mutex_stops_a_debug_build) {
  gyre::mutex mutex;
  const auto first = [&] { (void)mutex.is_locked(); };
  const auto lock = [&] { (void)mutex.try_lock(); };
  expect_stop(first, [&] { (void)mutex.try_lock(); }, elsewhere("try_lock", "a mutex"));
  expect_stop(lock, [&] { mutex.unlock(); }, elsewhere("unlock", "a mutex"));
  expect_stop(first, [&] { (void)mutex.is_locked(); }, elsewhere("is_locked", "a mutex"));
  expect_stop_in_await(first, [&] { return mutex.lock(); }, elsewhere("lock", "a mutex"));
  expect_stop_in_await(first, [&] { return mutex.scoped_lock(); }, elsewhere("lock", "a mutex"));
  gyre::mutex_guard guard;
  const auto take_guard = [&] {
    (void)mutex.try_lock();
    guard = gyre::mutex_guard(mutex);
  };
  expect_stop(take_guard, [&] { guard.unlock(); }, elsewhere("unlock", "a mutex"));
}

TEST_F(used_on_another_loop_death, a_shared_mutex_stops_a_debug_build) {
  gyre::shared_mutex mutex;
  const char* const name = "a shared_mutex";
  const auto first = [&] { (void)mutex.is_locked(); };
  expect_stop(first, [&] { (void)mutex.try_lock(); }, elsewhere("try_lock", name));
  expect_stop(first, [&] { (void)mutex.try_lock_shared(); }, elsewhere("try_lock_shared", name));
  expect_stop([&] { (void)mutex.try_lock(); }, [&] { mutex.unlock(); }, elsewhere("unlock", name));
  expect_stop([&] { (void)mutex.try_lock_shared(); }, [&] { mutex.unlock_shared(); }, elsewhere("unlock_shared", name));
  expect_stop(first, [&] { (void)mutex.readers(); }, elsewhere("readers", name));
  expect_stop_in_await(first, [&] { return mutex.lock(); }, elsewhere("lock", name));
  expect_stop_in_await(first, [&] { return mutex.scoped_lock_shared(); }, elsewhere("lock_shared", name));
}

TEST_F(used_on_another_loop_death, a_condition_variable_stops_a_debug_build) {
  gyre::mutex mutex;
  gyre::condition_variable condition(mutex);
  const char* const name = "a condition_variable";
  expect_stop([&] { condition.notify(); }, [&] { condition.notify_all(); }, elsewhere("notify", name));
  expect_stop_in_await([&] { condition.notify(); }, [&] { return condition.wait(); }, elsewhere("wait", name));
}

TEST_F(used_on_another_loop_death, a_semaphore_stops_a_debug_build) {
  gyre::counting_semaphore slots(1);
  const char* const name = "a counting_semaphore";
  const auto first = [&] { (void)slots.available(); };
  expect_stop(first, [&] { (void)slots.try_acquire(); }, elsewhere("try_acquire", name));
  expect_stop(first, [&] { slots.release(); }, elsewhere("release", name));
  expect_stop(first, [&] { (void)slots.available(); }, elsewhere("available", name));
  expect_stop_in_await(first, [&] { return slots.acquire(); }, elsewhere("acquire", name));
  expect_stop_in_await(first, [&] { return slots.scoped_acquire(); }, elsewhere("acquire", name));
}

TEST_F(used_on_another_loop_death, a_latch_or_a_barrier_stops_a_debug_build) {
  gyre::latch latch(2);
  const auto first = [&] { latch.count_down(); };
  expect_stop(first, [&] { latch.count_down(); }, elsewhere("count_down", "a latch"));
  expect_stop(first, [&] { (void)latch.try_wait(); }, elsewhere("count", "a latch"));
  expect_stop_in_await(first, [&] { return latch.wait(); }, elsewhere("wait", "a latch"));
  gyre::barrier barrier(2);
  const auto look = [&] { (void)barrier.broken(); };
  expect_stop(look, [&] { barrier.abort(); }, elsewhere("abort", "a barrier"));
  expect_stop(look, [&] { barrier.reset(); }, elsewhere("reset", "a barrier"));
  expect_stop_in_await(look, [&] { return barrier.wait(); }, elsewhere("wait", "a barrier"));
}

TEST_F(used_on_another_loop_death, a_queue_stops_a_debug_build) {
  gyre::queue<int> queue(4);
  const auto first = [&] { (void)queue.try_put(1); };
  expect_stop(first, [&] { (void)queue.try_put(1); }, elsewhere("try_put", "a queue"));
  expect_stop(first, [&] { (void)queue.try_get(); }, elsewhere("try_get", "a queue"));
  expect_stop(first, [&] { queue.task_done(); }, elsewhere("task_done", "a queue"));
  expect_stop(first, [&] { queue.shut_down(); }, elsewhere("shut_down", "a queue"));
  expect_stop(first, [&] { (void)queue.empty(); }, elsewhere("size", "a queue"));
  expect_stop_in_await(first, [&] { return queue.put(1); }, elsewhere("put", "a queue"));
  expect_stop_in_await(first, [&] { return queue.get(); }, elsewhere("get", "a queue"));
  expect_stop_in_await(first, [&] { return queue.join(); }, elsewhere("join", "a queue"));
}

TEST_F(used_on_another_loop_death, a_channel_stops_a_debug_build) {
  gyre::channel<int> channel(4);
  const auto first = [&] { (void)channel.try_send(1); };
  expect_stop(first, [&] { (void)channel.try_send(1); }, elsewhere("try_send", "a channel"));
  expect_stop(first, [&] { (void)channel.try_receive(); }, elsewhere("try_receive", "a channel"));
  expect_stop(first, [&] { channel.close(); }, elsewhere("close", "a channel"));
  expect_stop(first, [&] { (void)channel.size(); }, elsewhere("size", "a channel"));
  expect_stop_in_await(first, [&] { return channel.send(1); }, elsewhere("send", "a channel"));
  expect_stop_in_await(first, [&] { return channel.receive(); }, elsewhere("receive", "a channel"));
}

TEST_F(used_on_another_loop_death, a_promise_or_a_future_stops_a_debug_build) {
  gyre::promise<int> promise;
  const auto future = promise.get_future();
  const auto first = [&] { (void)promise.done(); };
  expect_stop(first, [&] { (void)promise.set_value(1); }, elsewhere("set_value", "a promise"));
  expect_stop(first, [&] { (void)promise.get_future(); }, elsewhere("get_future", "a promise"));
  expect_stop(first, [&] { const auto gone = std::move(promise); }, elsewhere("destructor", "a promise"));
  expect_stop(first, [&] { (void)future.done(); }, elsewhere("done", "a future"));
  expect_stop(first, [&] { const auto copy = future; }, elsewhere("copy", "a future"));  // NOLINT
  expect_stop_in_await(first, [&]() -> auto& { return future; }, elsewhere("co_await", "a future"));
}

TEST_F(used_on_another_loop_death, a_oneshot_stops_a_debug_build) {
  gyre::oneshot<int> pair;
  const auto first = [&] { (void)pair.sender.is_closed(); };
  expect_stop(first, [&] { (void)pair.sender.send(1); }, elsewhere("send", "a oneshot"));
  expect_stop(first, [&] { (void)pair.receiver.try_receive(); }, elsewhere("try_receive", "a oneshot"));
  expect_stop(
      first, [&] { const auto gone = std::move(pair.sender); }, elsewhere("destructor of the sender", "a oneshot"));
  expect_stop_in_await(first, [&] { return pair.receiver.receive(); }, elsewhere("receive", "a oneshot"));
}

TEST_F(used_on_another_loop_death, a_watch_stops_a_debug_build) {
  gyre::watch<int> watch(1);
  auto watcher = watch.subscribe();
  const auto first = [&] { watch.set(2); };
  expect_stop(first, [&] { watch.set(3); }, elsewhere("set", "a watch"));
  expect_stop(first, [&] { watch.close(); }, elsewhere("close", "a watch"));
  expect_stop(first, [&] { (void)watch.value(); }, elsewhere("value", "a watch"));
  expect_stop(first, [&] { (void)watch.subscribe(); }, elsewhere("subscribe", "a watch or broadcast"));
  expect_stop(first, [&] { (void)watcher.value(); }, elsewhere("value", "a watcher"));
  expect_stop_in_await(first, [&] { return watcher.changed(); }, elsewhere("changed", "a watcher"));
}

TEST_F(used_on_another_loop_death, a_broadcast_stops_a_debug_build) {
  gyre::broadcast<int> broadcast(1);
  auto subscription = broadcast.subscribe();
  const auto first = [&] { broadcast.send(1); };
  expect_stop(first, [&] { broadcast.send(2); }, elsewhere("send", "a broadcast"));
  expect_stop(first, [&] { broadcast.close(); }, elsewhere("close", "a broadcast"));
  expect_stop(first, [&] { (void)broadcast.subscribe(); }, elsewhere("subscribe", "a watch or broadcast"));
  expect_stop(first, [&] { (void)subscription.try_receive(); }, elsewhere("try_receive", "a subscription"));
  expect_stop_in_await(first, [&] { return subscription.receive(); }, elsewhere("receive", "a subscription"));
}

TEST_F(used_on_another_loop_death, an_event_in_a_chain_a_time_limit_or_an_as_expected_stops_a_debug_build) {
  gyre::event happened;
  const auto first = [&] { happened.clear(); };
  const std::string sentence = elsewhere("wait", "an event");
  expect_stop_in_await(first, [&] { return happened.wait() && happened.wait(); }, sentence);
  expect_stop_in_await(first, [&] { return gyre::timeout(1h, happened.wait()); }, sentence);
  expect_stop_in_await(first, [&] { return gyre::as_expected(happened.wait()); }, sentence);
}

TEST_F(used_on_another_loop_death, an_event_for_which_a_task_of_its_loop_waits_stops_a_debug_build) {
  gyre::event happened;
  const auto scenario = [&] {
    run_virtual([&]() -> task<> {
      auto waiter = gyre::spawn([&]() -> task<> { co_await happened.wait(); });
      co_await gyre::yield();
      std::thread([&] { happened.set(); }).join();
      co_await waiter;
    });
  };
  EXPECT_DEATH(scenario(), elsewhere("set", "an event"));
}

TEST_F(used_on_another_loop_death, a_queue_on_a_thread_without_a_loop_stops_a_debug_build) {
  gyre::queue<int> queue(1);
  const auto scenario = [&] {
    run_virtual([&]() -> task<> {
      queue.shut_down();
      std::thread([&] { (void)queue.try_put(1); }).join();
      co_return;
    });
  };
  EXPECT_DEATH(scenario(), elsewhere("try_put", "a queue"));
}

// ---- objects of other authors, which do not check their loop

namespace {

struct plain_line {
  struct wait_op : gyre::queued_operation<wait_op> {
    explicit wait_op(plain_line& line) noexcept : line_(&line) {}
    static bool try_now() noexcept { return false; }
    gyre::wait_queue& waits_in() noexcept { return line_->waiters; }
    plain_line* line_;
  };
  gyre::wait_queue_of<"a plain_line"> waiters;
};

}  // namespace

TEST_F(used_on_another_loop_death, any_object_that_wakes_a_task_of_its_loop_stops_a_debug_build) {
  plain_line line;
  const auto scenario = [&] {
    run_virtual([&]() -> task<> {
      auto waiter = gyre::spawn([&]() -> task<> { co_await plain_line::wait_op(line); }, {.name = "waiter"});
      co_await gyre::yield();
      run_elsewhere([&]() -> task<> {
        line.waiters.grant_all();
        co_return;
      });
      co_await waiter;
    });
  };
  EXPECT_DEATH(scenario(),
               "task waiter, which waits at .*other_loop_test.cpp:[0-9]+, was woken by the thread of another");
}

// ---- uses that are allowed

TEST(use_by_several_threads, is_allowed_for_an_object_that_is_made_and_filled_before_its_loop) {
  gyre::queue<int> queue(2);
  EXPECT_TRUE(queue.try_put(1));
  std::thread([&] { EXPECT_TRUE(queue.try_put(2)); }).join();
  run_virtual([&]() -> task<> {
    EXPECT_EQ(co_await queue.get(), 1);
    EXPECT_EQ(co_await queue.get(), 2);
  });
}

TEST(use_by_several_threads, is_allowed_on_one_loop_after_the_other) {
  static gyre::mutex mutex;
  static gyre::event happened;
  const auto use = [] {
    run_virtual([]() -> task<> {
      const auto guard = co_await mutex.scoped_lock();
      happened.set();
      co_await happened.wait();
    });
  };
  use();
  use();
  std::thread(use).join();
  EXPECT_TRUE(happened.is_set());
  std::thread([] { EXPECT_FALSE(mutex.is_locked()); }).join();
  use();
}

TEST(use_by_several_threads, is_allowed_for_an_object_that_a_loop_makes_for_another_one) {
  run_virtual([]() -> task<> {
    gyre::event happened;
    run_elsewhere([&]() -> task<> {
      happened.set();
      co_await happened.wait();
    });
    EXPECT_TRUE(happened.is_set());  // the other loop has ended: now it is this loop's
    co_return;
  });
}

TEST(use_by_several_threads, is_allowed_for_an_object_that_is_destroyed_after_its_loop_has_ended) {
  gyre::promise<int> promise;
  auto future = promise.get_future();
  gyre::oneshot<int> pair;
  run_virtual([&]() -> task<> {
    (void)promise.set_value(1);
    EXPECT_EQ(co_await future, 1);
    EXPECT_TRUE(pair.sender.send(2));
  });
  std::thread([promise = std::move(promise), future, receiver = std::move(pair.receiver)]() mutable {
    EXPECT_EQ(future.result(), 1);
    EXPECT_EQ(receiver.try_receive(), 2);
  }).join();
}

TEST(use_by_several_threads, is_allowed_to_functions_that_are_posted_to_its_loop) {
  run_virtual([]() -> task<> {
    gyre::event_loop& loop = gyre::event_loop::current();
    gyre::event happened;
    gyre::queue<int> queue(1);
    std::thread other([&] {
      loop.post([&] { happened.set(); });
      (void)gyre::run_coroutine_threadsafe(loop, [&]() -> task<> { co_await queue.put(1); });
    });
    co_await happened.wait();
    EXPECT_EQ(co_await queue.get(), 1);
    other.join();
  });
}
