// tests/sync/destroyed_while_waiting_test.cpp: an object that is destroyed while a task waits for it is named in the
// message.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <string>

using namespace gyre_test;

namespace {

/// Destroys the object from `make()` while a task runs `wait(object)`.
template <class Make, class Wait>
void destroy_while_waiting(Make make, Wait wait) {
  run_virtual([&]() -> gyre::task<> {
    auto object = make();
    auto waiting = gyre::spawn(wait(*object));
    co_await gyre::sleep(1ms);
    object.reset();
    co_await waiting;
  });
}

template <class Object, class... Arguments>
auto maker(Arguments... arguments) {
  return [arguments...] { return std::make_unique<Object>(arguments...); };
}

std::string sentence(const std::string& object) {
  return object +
         " was destroyed while a task waits for it: cancel and await that task first, or keep the object longer";
}

}  // namespace

TEST(destroyed_while_waiting_death, names_locks) {
  const auto lock = [](gyre::mutex& mutex) -> gyre::task<> {
    (void)mutex.try_lock();
    co_await mutex.lock();
  };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::mutex>(), lock), sentence("a mutex"));

  const auto lock_shared = [](gyre::shared_mutex& mutex) -> gyre::task<> {
    (void)mutex.try_lock();
    co_await mutex.lock_shared();
  };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::shared_mutex>(), lock_shared), sentence("a shared_mutex"));

  const auto acquire = [](gyre::counting_semaphore& permits) -> gyre::task<> { co_await permits.acquire(); };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::counting_semaphore>(0U), acquire), sentence("a counting_semaphore"));
}

TEST(destroyed_while_waiting_death, names_signals_between_tasks) {
  const auto wait = [](auto& object) -> gyre::task<> { co_await object.wait(); };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::event>(), wait), sentence("an event"));
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::latch>(1U), wait), sentence("a latch"));
  const auto arrive = [](gyre::barrier& barrier) -> gyre::task<> { co_await barrier.wait(); };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::barrier>(2U), arrive), sentence("a barrier"));

  struct condition {
    gyre::mutex mutex = {};
    gyre::condition_variable changed{mutex};
  };
  const auto wait_for_change = [](condition& c) -> gyre::task<> {
    const auto guard = co_await c.mutex.scoped_lock();
    co_await c.changed.wait();
  };
  EXPECT_DEATH(destroy_while_waiting(maker<condition>(), wait_for_change), sentence("a condition_variable"));
}

TEST(destroyed_while_waiting_death, names_queues_and_the_like) {
  const auto get = [](gyre::queue<int>& items) -> gyre::task<> { (void)co_await items.get(); };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::queue<int>>(1U), get), sentence("a queue"));
  const auto receive = [](gyre::channel<int>& items) -> gyre::task<> { (void)co_await items.receive(); };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::channel<int>>(1U), receive), sentence("a channel"));
  const auto changed = [](gyre::watch<int>& state) -> gyre::task<> {
    auto watcher = state.subscribe();
    (void)co_await watcher.changed();
  };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::watch<int>>(0), changed), sentence("a watch"));
  const auto next = [](gyre::broadcast<int>& news) -> gyre::task<> {
    auto subscription = news.subscribe();
    (void)co_await subscription.receive();
  };
  EXPECT_DEATH(destroy_while_waiting(maker<gyre::broadcast<int>>(1U), next), sentence("a broadcast"));
}
