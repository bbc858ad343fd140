// tests/tasks/timeout_rules_test.cpp: time-outs and cancels at the same time, time-outs within time-outs, and around
// groups, races and tasks that run already.
#include <gyre/tasks/timeout.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>

using namespace gyre_test;

namespace {

/// Awaits something that is expected to time out, and records whether it did.
template <class Awaitable>
gyre::task<> note_time_out(Awaitable limited, bool& timed_out) {
  timed_out = co_await throws<gyre::timed_out>(std::move(limited));
}

}  // namespace

TEST(timeout, gives_a_result_that_comes_in_spite_of_it) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await gyre::timeout(10ms, value_despite_cancel(5)), 5);
    auto handle = gyre::spawn(value_despite_cancel(4));
    EXPECT_EQ(co_await gyre::timeout(10ms, handle), 4);
  });
}

TEST(timeout, throws_a_failure_in_time_and_one_after_the_limit_as_they_are) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, fail_after(1ms, "in time"))), "in time");
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, fail_despite_cancel("late"))), "late");
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, gyre::spawn(fail_despite_cancel("late")))), "late");
  });
}

TEST(timeout, that_has_expired_fails_every_await_until_the_code_has_ended) {
  run_virtual([]() -> gyre::task<> {
    int failures = 0;
    auto stubborn = [&]() -> gyre::task<> {
      for (; failures < 4; ++failures) EXPECT_THROW(co_await gyre::sleep(1h), gyre::cancelled);
      co_await gyre::yield();
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, stubborn)));
    EXPECT_EQ(failures, 4);
    co_await gyre::sleep(1ms);  // nothing outside is cancelled
  });
}

TEST(timeout, is_not_reported_for_a_cancel_from_outside) {
  run_virtual([]() -> gyre::task<> {
    bool timed_out = false;
    auto body = [&]() -> gyre::task<> { co_await note_time_out(gyre::timeout(1h, value_after(2h, 1)), timed_out); };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_FALSE(timed_out);
  });
}

TEST(timeout, that_has_expired_is_overruled_by_a_cancel_that_comes_before_its_code_has_run_on) {
  run_virtual([]() -> gyre::task<> {
    bool timed_out = false;
    gyre::cancel_scope* victim = nullptr;
    auto canceller = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(5ms);
      victim->cancel();
    });
    auto handle = gyre::spawn(note_time_out(gyre::timeout(5ms, gyre::sleep(1h)), timed_out));
    victim = &handle.state().root;
    co_await handle.wait();
    EXPECT_TRUE(handle.state().was_cancelled());
    EXPECT_FALSE(timed_out);
    co_await canceller;
  });
}

// ---- within another one

TEST(timeout, that_is_the_inner_of_two_expires_alone) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto body = [&]() -> gyre::task<> {
      co_await note_time_out(gyre::timeout(10ms, value_after(1h, 1)), inner_expired);
      co_await gyre::sleep(10ms);
    };
    co_await gyre::timeout(1s, body);
    EXPECT_TRUE(inner_expired);
  });
}

TEST(timeout, that_is_the_outer_of_two_is_not_mistaken_for_the_inner) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto body = [&]() -> gyre::task<> { co_await note_time_out(gyre::timeout(1h, value_after(2h, 1)), inner_expired); };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, body)));
    EXPECT_FALSE(inner_expired);
  });
}

TEST(timeout, that_is_the_outer_of_two_wins_when_both_expire_in_the_same_moment) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto body = [&]() -> gyre::task<> {
      co_await note_time_out(gyre::timeout(10ms, gyre::sleep(1h)), inner_expired);
      co_await gyre::yield();
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, body)));
    EXPECT_FALSE(inner_expired);
  });
}

TEST(timeout, that_is_the_outer_of_two_wins_when_it_passes_while_the_inner_one_cleans_up) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto slow_clean_up = []() -> gyre::task<> {
      co_await outlast_cancel();
      co_await gyre::shield(gyre::sleep(50ms));
      co_await gyre::yield();
    };
    auto body = [&]() -> gyre::task<> { co_await note_time_out(gyre::timeout(10ms, slow_clean_up), inner_expired); };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(20ms, body)));
    EXPECT_FALSE(inner_expired);
  });
}

TEST(timeout, bounds_the_clean_up_inside_a_shield) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool clean_up_expired = false;
    auto body = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      co_await gyre::shield(note_time_out(gyre::timeout(30ms, gyre::sleep(1h)), clean_up_expired));
    };
    (void)co_await is_cancelled_after(1ms, body);
    EXPECT_TRUE(clean_up_expired);
    EXPECT_EQ(since(begin), 31ms);
  });
}

// ---- around several tasks, and around tasks that run already

TEST(timeout, reaches_all_tasks_of_a_race_and_a_gather) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_TRUE(
        co_await throws<gyre::timed_out>(gyre::timeout(5ms, gyre::race(value_after(1h, 1), value_after(2h, 2)))));
    EXPECT_TRUE(
        co_await throws<gyre::timed_out>(gyre::timeout(5ms, gyre::gather(value_after(1ms, 1), value_after(2h, 2)))));
    EXPECT_FALSE(
        co_await throws<gyre::timed_out>(gyre::timeout(5ms, gyre::gather(value_after(1ms, 1), value_after(2ms, 2)))));
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout, leaves_a_task_running_when_it_is_around_the_waiting_for_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(20ms, 3));
    auto await_it = [&]() -> gyre::task<int> { co_return co_await handle; };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(5ms, await_it)));
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(5ms, handle.wait())));
    EXPECT_FALSE(handle.done());
    EXPECT_EQ(co_await handle, 3);
  });
}

TEST(timeout, cancels_the_task_of_a_handle_and_waits_for_its_end) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    int ended = 0;
    auto slow_to_end = [&]() -> gyre::task<int> {
      co_await outlast_cancel();
      auto clean_up = gyre::shield(gyre::sleep(5ms));
      co_await std::move(clean_up);
      ++ended;
      throw gyre::cancelled();
    };
    auto handle = gyre::spawn(slow_to_end);
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, handle)));
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(since(begin), 15ms);
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, gyre::spawn(slow_to_end))));
    EXPECT_EQ(ended, 2);
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::wait_for(gyre::spawn(slow_to_end), 10ms)));
    EXPECT_EQ(ended, 3);
  });
}

TEST(timeout, cancels_the_task_of_a_handle_when_its_caller_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 4));
    auto body = [&]() -> gyre::task<int> { co_return co_await gyre::timeout(1h, handle); };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_TRUE(handle.done());
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(timeout, that_never_begins_cancels_the_task_of_a_handle_that_it_was_given) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 4));
    gyre::task_state& task = handle.state();
    task.add_reference();
    const gyre::task_reference kept(task);
    {
      [[maybe_unused]] auto never = gyre::timeout(1s, std::move(handle));
    }
    co_await gyre::yield();
    co_await gyre::yield();
    EXPECT_TRUE(task.done());
  });
}
