// tests/sync/cancel_every_step_test.cpp: a cancel at each step of a scenario leaves nothing locked, waiting or lost.
#include <gyre/sync.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;

namespace {

void ignore(bool /*was_cancelled*/) {}

template <class... Tasks>
gyre::task<> all_of(Tasks... tasks) {
  auto all = gyre::gather(std::move(tasks)...);
  co_await std::move(all);
}

}  // namespace

TEST(cancel_at_every_await, of_an_event_and_a_latch) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::event event;
        gyre::latch latch(2);
        auto wait = [&]() -> gyre::task<> {
          co_await event.wait();
          co_await latch.arrive_and_wait();
        };
        auto set = [&]() -> gyre::task<> {
          co_await gyre::yield();
          event.set();
        };
        co_await all_of(wait(), wait(), set());
      },
      ignore);
}

TEST(cancel_at_every_await, of_a_shared_mutex) {
  static bool left_locked;
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::shared_mutex mutex;
        struct look {
          gyre::shared_mutex& mutex;
          ~look() { left_locked = mutex.is_locked() || mutex.readers() > 0; }
        } const at_end{mutex};
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
      [](bool) { EXPECT_FALSE(left_locked); });
}

TEST(cancel_at_every_await, of_a_oneshot) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::oneshot<int> pair;
        auto receive = [&]() -> gyre::task<> { EXPECT_EQ(co_await pair.receiver.receive(), 1); };
        auto send = [&]() -> gyre::task<> {
          co_await gyre::yield();
          pair.sender.send(1);
        };
        co_await all_of(receive(), send());
      },
      ignore);
}

TEST(cancel_at_every_await, of_a_future) {
  cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::promise<int> promise;
        auto wait = [](gyre::future<int> future) -> gyre::task<> { EXPECT_EQ(co_await future, 1); };
        auto give = [&]() -> gyre::task<> {
          co_await gyre::yield();
          promise.set_value(1);
        };
        co_await all_of(wait(promise.get_future()), wait(promise.get_future()), give());
      },
      ignore);
}

TEST(cancel_at_every_await, of_a_broadcast_and_a_watch) {
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

TEST(cancel_at_every_await, of_an_async_scope) {
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

TEST(cancel_at_every_await, of_wait_as_completed_and_some) {
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
