// tests/sync/cancel_every_step_test.cpp: a cancel at each step of a scenario leaves nothing locked, waiting or lost.
#include <gyre/sync.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <cstddef>
#include <vector>

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;

namespace {

void ignore(bool /*was_cancelled*/) {}

template <class... Tasks>
gyre::task<> all_of(Tasks... tasks) {
  auto all = gyre::gather(std::move(tasks)...);
  co_await std::move(all);
}

/// An object that is inspected when its scenario ends. `Free` is a function of it.
template <class Object, auto Free>
struct inspected : Object {
  using Object::Object;
  ~inspected() { EXPECT_TRUE(Free(*this)); }
};

constexpr auto is_unlocked = [](const gyre::mutex& mutex) { return !mutex.is_locked(); };
constexpr auto is_unused = [](const gyre::shared_mutex& mutex) { return !mutex.is_locked() && mutex.readers() == 0; };
constexpr auto has_two_permits = [](const gyre::counting_semaphore& slots) { return slots.available() == 2; };

int put = 0;
int got = 0;
int left = 0;

/// Two producers and two consumers, which share a queue. Counts the items.
template <class Queue, class Put, class Get, class TryGet>
gyre::task<> produce_and_consume(std::size_t capacity, Put put_one, Get get_one, TryGet try_get) {
  put = got = left = 0;
  struct leftovers {
    Queue queue;
    TryGet& take;
    ~leftovers() {
      while (take(queue)) ++left;
    }
  } shared{Queue(capacity), try_get};
  const auto produce = [&]() -> gyre::task<> {
    for (int i = 0; i < 5; ++i, ++put) co_await put_one(shared.queue, i);
  };
  const auto consume = [&]() -> gyre::task<> {
    for (int i = 0; i < 5; ++i, ++got) (void)co_await get_one(shared.queue);
  };
  co_await all_of(produce(), produce(), consume(), consume());
}

void expect_all_items(bool /*was_cancelled*/) { EXPECT_EQ(put, got + left); }

}  // namespace

TEST(cancel_at_any_await, leaves_a_mutex_unlocked) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        inspected<gyre::mutex, is_unlocked> mutex;
        auto work = [&]() -> gyre::task<> {
          for (int i = 0; i < 3; ++i) {
            const auto guard = co_await mutex.scoped_lock();
            co_await gyre::yield();
          }
        };
        co_await all_of(work(), work(), work());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_all_permits_in_a_semaphore) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        inspected<gyre::counting_semaphore, has_two_permits> slots(2);
        auto work = [&]() -> gyre::task<> {
          for (int i = 0; i < 2; ++i) {
            const auto permit = co_await slots.scoped_acquire();
            co_await gyre::yield();
          }
        };
        co_await all_of(work(), work(), work(), work());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_a_shared_mutex_unlocked) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        inspected<gyre::shared_mutex, is_unused> mutex;
        auto read = [&]() -> gyre::task<> {
          const auto guard = co_await mutex.scoped_lock_shared();
          co_await gyre::yield();
        };
        auto write = [&]() -> gyre::task<> {
          const auto guard = co_await mutex.scoped_lock();
          co_await gyre::yield();
        };
        co_await all_of(read(), write(), read(), write(), read());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_the_mutex_of_a_condition_unlocked) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        inspected<gyre::mutex, is_unlocked> mutex;
        gyre::condition_variable changed(mutex);
        int items = 0;
        int consumed = 0;
        auto consume = [&]() -> gyre::task<> {
          const auto guard = co_await mutex.scoped_lock();
          co_await changed.wait([&] { return items > 0; });
          --items;
          ++consumed;
        };
        auto produce = [&]() -> gyre::task<> {
          const auto guard = co_await mutex.scoped_lock();
          ++items;
          changed.notify();
        };
        co_await all_of(consume(), consume(), produce(), produce());
        EXPECT_EQ(consumed, 2);
      },
      ignore);
}

TEST(cancel_at_any_await, loses_and_doubles_no_item_of_a_queue) {
  using queue = gyre::queue<int>;
  cancel_at_every_await(
      [] GYRE_CORO_WRAPPER() {
        return produce_and_consume<queue>(
            2, [](queue& to, int i) { return to.put(i); }, [](queue& from) { return from.get(); },
            [](queue& from) { return from.try_get().has_value(); });
      },
      expect_all_items);
}

TEST(cancel_at_any_await, loses_and_doubles_no_item_of_a_channel) {
  using channel = gyre::channel<int>;
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{2}}) {
    cancel_at_every_await(
        [capacity] GYRE_CORO_WRAPPER() {
          return produce_and_consume<channel>(
              capacity, [](channel& to, int i) { return to.send(i); }, [](channel& from) { return from.receive(); },
              [](channel& from) { return from.try_receive().has_value(); });
        },
        expect_all_items);
  }
}

TEST(cancel_at_any_await, leaves_no_task_that_waits_for_an_event_a_latch_or_a_barrier) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::event event;
        gyre::latch latch(2);
        gyre::barrier barrier(2);
        auto wait = [&]() -> gyre::task<> {
          co_await event.wait();
          co_await latch.arrive_and_wait();
          for (int i = 0; i < 3; ++i) co_await barrier.wait();
        };
        auto set = [&]() -> gyre::task<> {
          co_await gyre::yield();
          event.set();
        };
        co_await all_of(wait(), wait(), set());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_no_task_that_waits_for_a_oneshot_or_a_future) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::oneshot<int> pair;
        gyre::promise<int> promise;
        auto receive = [&]() -> gyre::task<> { EXPECT_EQ(co_await pair.receiver.receive(), 1); };
        auto wait = [](gyre::future<int> future) -> gyre::task<> { EXPECT_EQ(co_await future, 1); };
        auto give = [&]() -> gyre::task<> {
          co_await gyre::yield();
          pair.sender.send(1);
          co_await gyre::yield();
          promise.set_value(1);
        };
        co_await all_of(receive(), wait(promise.get_future()), wait(promise.get_future()), give());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_no_task_that_waits_for_a_broadcast_or_a_watch) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::broadcast<int> news(2);
        gyre::watch<int> state(0);
        auto listen = [&]() -> gyre::task<> {
          auto subscription = news.subscribe();
          while (co_await subscription.receive()) co_await gyre::yield();
        };
        auto observe = [&]() -> gyre::task<> {
          auto watcher = state.subscribe();
          while (co_await watcher.changed()) (void)watcher.value();
        };
        auto change = [&]() -> gyre::task<> {
          for (int i = 1; i < 4; ++i) {
            news.send(i);
            state.set(i);
            co_await gyre::yield();
          }
          news.close();
          state.close();
        };
        co_await all_of(listen(), observe(), change());
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_no_task_of_an_async_scope) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::async_scope scope;
        for (int i = 0; i < 2; ++i) scope.spawn(value_after(1ms, i));
        bool interrupted = false;
        try {
          co_await gyre::sleep(500us);
        } catch (const gyre::cancelled&) {
          interrupted = true;
        }
        if (interrupted) scope.cancel();
        co_await scope.join();  // a cancel does not end this, so nothing is left over
      },
      ignore);
}

TEST(cancel_at_any_await, leaves_no_task_of_wait_as_completed_and_first_n) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        auto body = [](gyre::task_group& group) -> gyre::task<> {
          std::vector<gyre::task_handle<int>> handles;
          for (int i = 0; i < 3; ++i) handles.push_back(group.spawn(value_after(std::chrono::milliseconds(i), i)));
          (void)co_await gyre::wait(handles, gyre::wait_until::first_completed);
          auto order = gyre::as_completed(handles);
          while (co_await order.next()) {
          }
          std::vector<gyre::task<int>> tasks;
          for (int i = 0; i < 3; ++i) tasks.push_back(value_after(std::chrono::milliseconds(i), i));
          auto two = gyre::first_n(2, std::move(tasks));
          (void)co_await std::move(two);
        };
        co_await gyre::task_group::scope(body);
      },
      ignore);
}
