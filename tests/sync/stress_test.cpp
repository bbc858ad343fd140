// tests/sync/stress_test.cpp: many tasks use every primitive at random, while others are cancelled at random moments.
// Runs with the same seed are the same. Nothing may be lost, duplicated or left locked.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace gyre_test;

namespace {

struct world {
  explicit world(unsigned seed) : random(seed) {}

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); }
  gyre::task<> pause() {
    if (pick(2) == 0)
      co_await gyre::yield();
    else
      co_await gyre::sleep(std::chrono::microseconds(pick(50)));
  }

  gyre::task<> use_mutex() {
    const auto guard = co_await mutex.scoped_lock();
    EXPECT_EQ(++inside_mutex, 1);
    struct leaving {
      int& count;
      ~leaving() { --count; }
    } const on_exit{inside_mutex};
    co_await pause();
  }
  gyre::task<> use_semaphore() {
    const auto permit = co_await slots.scoped_acquire();
    EXPECT_LE(++inside_semaphore, 3);
    struct leaving {
      int& count;
      ~leaving() { --count; }
    } const on_exit{inside_semaphore};
    co_await pause();
  }
  gyre::task<> use_shared_mutex() {
    if (pick(3) > 0) {
      co_await shared.lock_shared();
      ++readers;
      EXPECT_EQ(writers, 0);
      const auto outcome = co_await gyre::as_result(pause_task());
      --readers;
      shared.unlock_shared();
      (void)outcome;
    } else {
      co_await shared.lock();
      EXPECT_EQ(++writers, 1);
      EXPECT_EQ(readers, 0);
      --writers;
      shared.unlock();
    }
  }
  // A pause that a cancel does not interrupt, because objects locked by hand must be unlocked by hand.
  gyre::task<> pause_task() {
    auto quiet = [this]() -> gyre::task<> { co_await pause(); };
    co_await gyre::shield(quiet);
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
  gyre::task<> limited(gyre::task<> action) {
    try {
      co_await gyre::timeout(std::chrono::microseconds(20 + pick(200)), std::move(action));
    } catch (const gyre::timed_out&) {  // so that every task ends, whatever the others do
    }
  }

  gyre::task<> act(int steps) {
    for (int i = 0; i < steps; ++i) {
      switch (pick(9)) {
        case 0:
          co_await limited(use_mutex());
          break;
        case 1:
          co_await limited(use_semaphore());
          break;
        case 2:
          co_await limited(use_shared_mutex());
          break;
        case 3:
          co_await limited(put_item());
          break;
        case 4:
          co_await limited(get_item());
          break;
        case 5:
          co_await limited(send_item());
          break;
        case 6:
          co_await limited(receive_item());
          break;
        case 7:
          co_await limited(wait_for_condition());
          break;
        default:
          co_await limited(change_condition());
          break;
      }
    }
  }

  std::mt19937 random;
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
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_virtual([seed]() -> gyre::task<> {
      world all(seed);
      std::vector<gyre::task_handle<void>> tasks;
      for (int i = 0; i < 40; ++i) tasks.push_back(gyre::spawn(all.act(30)));
      for (int i = 0; i < 15; ++i) {
        co_await gyre::sleep(std::chrono::microseconds(all.pick(100)));
        tasks[static_cast<std::size_t>(all.pick(40))].cancel();
      }
      for (auto& each : tasks) {
        co_await each.wait();
        EXPECT_TRUE(!each.state().failure() || each.state().was_cancelled());
      }
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
}
