// tests/sync/shared_mutex_test.cpp: many readers, or one writer.
#include <gyre/sync/shared_mutex.hpp>

#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <string>

using namespace gyre_test;

namespace {

gyre::task<> read(gyre::shared_mutex& mutex, std::string& log, char name) {
  co_await mutex.lock_shared();
  log += name;
  co_await gyre::sleep(1ms);
  log += name;
  mutex.unlock_shared();
}
gyre::task<> write(gyre::shared_mutex& mutex, std::string& log, char name) {
  co_await mutex.lock();
  log += name;
  co_await gyre::sleep(1ms);
  log += name;
  mutex.unlock();
}

}  // namespace

TEST(shared_mutex, lets_others_run_before_a_task_that_has_had_its_share_takes_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_mutex mutex;
    auto lock = [&]() -> gyre::task<> {
      for (int i = 0; i < 500; ++i) {
        {
          const auto reading = co_await mutex.scoped_lock_shared();
        }
        const auto writing = co_await mutex.scoped_lock();
      }
    };
    auto look = [&] { EXPECT_FALSE(mutex.is_locked() || mutex.readers() > 0); };
    EXPECT_GT(co_await turns_of_others_during(lock(), look), 5);
  });
}

TEST(shared_mutex, readers_come_in_together_and_writers_alone_in_their_order) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_mutex mutex;
    std::string log;
    auto all = gyre::gather(read(mutex, log, 'a'), read(mutex, log, 'b'), write(mutex, log, 'W'), read(mutex, log, 'c'),
                            read(mutex, log, 'd'), write(mutex, log, 'X'));
    co_await std::move(all);
    EXPECT_EQ(log, "ababWWcdcdXX");
  });
}

TEST(shared_mutex, trying_tells_whether_it_was_free) {
  gyre::shared_mutex mutex;
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock_shared();
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock();
}

TEST(shared_mutex, readers_behind_a_writer_that_gives_up_come_in) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_mutex mutex;
    co_await mutex.lock_shared();
    std::string log;
    auto writer = gyre::spawn(write(mutex, log, 'W'));
    auto reader = gyre::spawn(read(mutex, log, 'r'));
    co_await gyre::yield();
    EXPECT_EQ(log, "") << "the reader waits behind the writer";
    writer.cancel();
    EXPECT_EQ(mutex.readers(), 2U) << "at once";
    co_await writer.wait();
    co_await reader;
    EXPECT_EQ(log, "rr");
    mutex.unlock_shared();
  });
}

TEST(shared_mutex, a_writer_that_times_out_lets_the_readers_behind_it_in) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_mutex mutex;
    co_await mutex.lock_shared();
    auto writer = gyre::spawn([&]() -> gyre::task<> {
      const auto outcome = co_await gyre::as_expected(gyre::timeout(1ms, mutex.lock()));
      EXPECT_EQ(outcome.error(), std::errc::timed_out);
    });
    co_await gyre::yield();
    co_await mutex.lock_shared();
    EXPECT_EQ(mutex.readers(), 2U);
    co_await writer;
    mutex.unlock_shared();
    mutex.unlock_shared();
  });
}

TEST(shared_mutex_death, unlocking_what_one_does_not_have_stops_the_program) {
  gyre::shared_mutex mutex;
  EXPECT_DEATH(mutex.unlock(), "no writer");
  EXPECT_DEATH(mutex.unlock_shared(), "no reader");
}
