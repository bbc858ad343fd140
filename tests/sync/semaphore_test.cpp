// tests/sync/semaphore_test.cpp: at most a given number at a time, and no permit is lost.
#include <gyre/sync/semaphore.hpp>

#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace gyre_test;

TEST(counting_semaphore, lets_as_many_in_as_there_are_permits) {
  run_virtual([]() -> gyre::task<> {
    gyre::counting_semaphore slots(3);
    int inside = 0;
    int most = 0;
    auto work = [&]() -> gyre::task<> {
      const auto permit = co_await slots.scoped_acquire();
      most = std::max(most, ++inside);
      co_await gyre::sleep(1ms);
      --inside;
    };
    std::vector<gyre::task<>> tasks;
    for (int i = 0; i < 10; ++i) tasks.push_back(work());
    co_await gyre::gather(std::move(tasks));
    EXPECT_EQ(most, 3);
    EXPECT_EQ(slots.available(), 3U);
  });
}

// docs/from-asyncio.md: there, the second one would queue up behind the first.
TEST(counting_semaphore, a_released_permit_belongs_to_its_waiter_and_a_second_one_is_free) {
  run_virtual([]() -> gyre::task<> {
    gyre::counting_semaphore slots(0);
    std::vector<int> order;
    auto waits = gyre::spawn([&]() -> gyre::task<> {
      co_await slots.acquire();
      order.push_back(1);
    });
    co_await gyre::yield();
    slots.release(2);
    EXPECT_EQ(slots.available(), 1U);
    co_await slots.acquire();
    order.push_back(2);
    EXPECT_FALSE(slots.try_acquire());
    co_await waits;
    EXPECT_EQ(order, (std::vector{2, 1}));
  });
}

TEST(counting_semaphore, serves_who_waits_longest_first_and_several_at_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::counting_semaphore slots(0);
    std::vector<int> order;
    auto work = [&](int number) -> gyre::task<> {
      co_await slots.acquire();
      order.push_back(number);
    };
    std::vector<gyre::task_handle<void>> tasks;
    for (int i = 0; i < 4; ++i) tasks.push_back(gyre::spawn(work(i)));
    co_await gyre::yield();
    slots.release(3);
    EXPECT_FALSE(slots.try_acquire()) << "the permits belong to those who wait";
    for (int i = 0; i < 3; ++i) co_await tasks[static_cast<std::size_t>(i)];
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
    slots.release(2);
    co_await tasks[3];
    EXPECT_EQ(slots.available(), 1U);
  });
}

TEST(counting_semaphore, lets_others_run_before_a_task_that_has_had_its_share_takes_a_permit) {
  run_virtual([]() -> gyre::task<> {
    gyre::counting_semaphore slots(1);
    auto acquire = [&]() -> gyre::task<> {
      for (int i = 0; i < 1'000; ++i) const auto permit = co_await slots.scoped_acquire();
    };
    auto look = [&] { EXPECT_EQ(slots.available(), 1U); };
    EXPECT_GT(co_await turns_of_others_during(acquire(), look), 5);
  });
}

TEST(bounded_semaphore, refuses_more_permits_than_it_began_with) {
  run_virtual([]() -> gyre::task<> {
    gyre::bounded_semaphore slots(1);
    EXPECT_THROW(slots.release(), std::logic_error);
    co_await slots.acquire();
    slots.release();
    EXPECT_THROW(slots.release(), std::logic_error);
    EXPECT_EQ(slots.available(), 1U);
  });
}

TEST(counting_semaphore_death, that_gets_more_permits_than_it_can_count_stops_the_program) {
  gyre::counting_semaphore slots(1);
  EXPECT_DEATH(slots.release(static_cast<std::size_t>(-1)), "release.. of a semaphore with more permits than");
}
