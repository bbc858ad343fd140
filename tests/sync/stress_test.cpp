// tests/sync/stress_test.cpp: many tasks use every primitive at random, while others are cancelled at random moments.
// Nothing may be lost, duplicated or left locked.
#include <gyre/sync.hpp>

#include <gyre/coro/scope_exit.hpp>

#include "tests/sync/stress.hpp"

#include <array>

using namespace gyre_test;

namespace {

struct world_of_locks : random_world {
  using random_world::random_world;

  gyre::task<> pause() {
    if (choose.one_in(2))
      co_await gyre::yield();
    else
      co_await gyre::sleep(moment(50));
  }

  gyre::task<> use_mutex() {
    const auto guard = co_await mutex.scoped_lock();
    EXPECT_EQ(++inside_mutex, 1);
    const gyre::scope_exit leave([&]() noexcept { --inside_mutex; });
    co_await pause();
  }
  gyre::task<> use_semaphore() {
    const auto permit = co_await slots.scoped_acquire();
    EXPECT_LE(++inside_semaphore, 3);
    const gyre::scope_exit leave([&]() noexcept { --inside_semaphore; });
    co_await pause();
  }
  gyre::task<> use_shared_mutex() {
    if (!choose.one_in(3)) {
      co_await shared.lock_shared();
      ++readers;
      EXPECT_EQ(writers, 0);
      co_await gyre::shield(pause());  // because what was locked by hand must be unlocked by hand
      --readers;
      shared.unlock_shared();
    } else {
      co_await shared.lock();
      EXPECT_EQ(++writers, 1);
      EXPECT_EQ(readers, 0);
      --writers;
      shared.unlock();
    }
  }
  gyre::task<> put_item() {
    co_await queue.put(1);
    ++put;
  }
  gyre::task<> get_item() {
    got += co_await queue.get();
    queue.task_done();
  }
  gyre::task<> send_item() {
    co_await channel.send(1);
    ++sent;
  }
  gyre::task<> receive_item() {
    if (const auto item = co_await channel.receive()) received += *item;
  }
  gyre::task<> wait_for_condition() {
    const auto guard = co_await mutex.scoped_lock();
    const int seen = generation;
    co_await changed.wait([this, seen] { return generation != seen; });
    EXPECT_TRUE(mutex.is_locked());
  }
  gyre::task<> change_condition() {
    const auto guard = co_await mutex.scoped_lock();
    ++generation;
    changed.notify_all();
  }
  gyre::task<> step() {
    using action = gyre::task<> (world_of_locks::*)();
    constexpr std::array<action, 9> all{
        &world_of_locks::use_mutex,    &world_of_locks::use_semaphore,      &world_of_locks::use_shared_mutex,
        &world_of_locks::put_item,     &world_of_locks::get_item,           &world_of_locks::send_item,
        &world_of_locks::receive_item, &world_of_locks::wait_for_condition, &world_of_locks::change_condition};
    co_await limited((this->*all[choose.below(all.size())])());
  }
  gyre::task<> finish() { co_return; }

  gyre::mutex mutex;
  gyre::condition_variable changed{mutex};
  gyre::counting_semaphore slots{3};
  gyre::shared_mutex shared;
  gyre::queue<int> queue{4};
  gyre::channel<int> channel{0};
  int inside_mutex = 0;
  int inside_semaphore = 0;
  int readers = 0;
  int writers = 0;
  int generation = 0;
  int put = 0;
  int got = 0;
  int sent = 0;
  int received = 0;
};

}  // namespace

TEST(sync_stress, random_use_with_random_cancels_loses_nothing) {
  stress<world_of_locks>([](world_of_locks& all) {
    EXPECT_FALSE(all.mutex.is_locked());
    EXPECT_FALSE(all.shared.is_locked());
    EXPECT_EQ(all.shared.readers(), 0U);
    EXPECT_EQ(all.slots.available(), 3U);
    EXPECT_EQ(all.inside_mutex + all.inside_semaphore + all.readers + all.writers, 0);
    int left = 0;
    while (all.queue.try_get()) ++left;
    EXPECT_EQ(all.put, all.got + left);
    EXPECT_EQ(all.sent, all.received) << "a rendezvous keeps nothing";
    EXPECT_GT(all.got + all.received, 0);
  });
}
