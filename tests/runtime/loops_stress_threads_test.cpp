// tests/runtime/loops_stress_threads_test.cpp: tasks on several loops that call each other at random until the end.
#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/loops_stress_scene.hpp"
#include "tests/support/seeds.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

gyre::task<> act(scene& s, unsigned seed, int depth);

/// Calls a function on another loop that fails, and expects its own failure.
template <class F>
gyre::task<> expect_failure(scene& s, gyre::event_loop& there, F& fail, unsigned number) {
  unsigned caught = 0;
  try {
    co_await gyre::on(there, fail);
  } catch (const expected_failure& failure) {
    caught = failure.id.value;
  }
  s.book.expect(caught == number, "a failure did not reach its caller");
}

gyre::task<> call_plain(scene& s, choices& choose, gyre::event_loop& there) {
  const unsigned number = static_cast<unsigned>(choose.below(1000)) + 1;
  const gyre::event_loop& home = gyre::event_loop::current();
  const counted captured(s.book, number);
  auto give = [&s, &there, captured] {
    s.book.expect(runs_on(there), "a plain function runs on a wrong thread");
    s.use_tally();
    return captured;
  };
  auto fail = [&s, number] { throw expected_failure(s.book, number); };
  if (choose.one_in(3)) {
    co_await expect_failure(s, there, fail, number);
  } else {
    const counted got = co_await gyre::on(there, give);
    s.book.expect(got.value == number, "a plain function gave a wrong value");
  }
  s.book.expect(runs_on(home), "the caller continues on a wrong thread");
}

gyre::task<> call_task(scene& s, choices& choose, gyre::event_loop& there, int depth) {
  const unsigned number = static_cast<unsigned>(choose.below(1000)) + 1;
  const unsigned seed = static_cast<unsigned>(choose.below(1'000'000));
  const bool fails = choose.one_in(3);
  const gyre::event_loop& home = gyre::event_loop::current();
  const counted captured(s.book, number);
  const running_flag running = make_flag();
  auto nested = [&s, &there, captured, running, seed, depth, fails]() -> gyre::task<counted> {
    const running_guard guard(running);
    s.book.expect(runs_on(there), "a task runs on a wrong thread");
    co_await act(s, seed, depth - 1);
    s.book.expect(runs_on(there), "a task continues on a wrong thread");
    if (fails) throw expected_failure(s.book, captured.value);
    co_return captured;
  };
  const gyre::scope_exit ended([&] { s.book.expect(!*running, "a call ended before its task"); });
  if (fails) {
    co_await expect_failure(s, there, nested, number);
  } else {
    const counted got = co_await gyre::on(there, nested);
    s.book.expect(got.value == number, "a task gave a wrong value");
  }
  s.book.expect(runs_on(home), "the caller continues on a wrong thread");
}

gyre::task<> start_task(scene& s, choices& choose, gyre::event_loop& there) {
  const unsigned number = static_cast<unsigned>(choose.below(1000)) + 1;
  const running_flag running = make_flag();
  const std::chrono::microseconds time = short_time(choose);
  auto work = [&s, running, time, number]() -> gyre::task<counted> {
    co_return co_await sleeper(s, running, time, number);
  };
  auto handle = gyre::spawn_on(there, work);
  const gyre::scope_exit end([&] {
    if (handle) handle.detach();
  });
  if (choose.one_in(3)) co_return;
  if (choose.one_in(2)) {
    if (choose.one_in(2)) co_await gyre::sleep(short_time(choose));
    if (choose.one_in(2)) co_await gyre::yield();
    handle.cancel();
    try {
      const counted got = co_await handle;
      s.book.expect(got.value == number, "a started task gave a wrong value");
    } catch (const gyre::task_cancelled&) {  // as asked
    }
  } else {
    const counted got = co_await handle;
    s.book.expect(got.value == number, "a started task gave a wrong value");
  }
  s.book.expect(!*running, "a started task runs after the await of its handle");
}

gyre::task<> limit_call(scene& s, choices& choose, gyre::event_loop& there) {
  const running_flag running = make_flag();
  const std::chrono::microseconds time = short_time(choose);
  const std::chrono::microseconds limit = short_time(choose);
  auto call = [&s, &there, running, time]() -> gyre::task<> {
    auto work = [&]() -> gyre::task<counted> { co_return co_await sleeper(s, running, time, 1); };
    (void)co_await gyre::on(there, work);
  };
  try {
    co_await gyre::timeout(limit, call);
  } catch (const gyre::timed_out&) {  // one of the two outcomes
  }
  s.book.expect(!*running, "a task runs after the time limit of its call");
}

gyre::task<> race_calls(scene& s, choices& choose, gyre::event_loop& there) {
  gyre::event_loop& elsewhere = s.any_loop(choose);
  const running_flag first_runs = make_flag();
  const running_flag second_runs = make_flag();
  const std::chrono::microseconds first_time = short_time(choose);
  const std::chrono::microseconds second_time = short_time(choose);
  auto first = [&]() -> gyre::task<counted> { co_return co_await sleeper(s, first_runs, first_time, 0); };
  auto second = [&]() -> gyre::task<counted> { co_return co_await sleeper(s, second_runs, second_time, 1); };
  auto both = gyre::race(gyre::on(there, first), gyre::on(elsewhere, second));
  const auto winner = co_await std::move(both);
  s.book.expect(winner.value.value == winner.index, "a race gave the value of the other call");
  s.book.expect(!*first_runs && !*second_runs, "a task runs after the race that it lost");
}

/// The failures of the loops whose bits are set in `failing`, and no others, may arrive.
void check_failure(scene& s, const std::exception_ptr& failure, std::size_t failing) {
  try {
    std::rethrow_exception(failure);
  } catch (const expected_failure& one) {
    s.book.expect((failing >> one.id.value & 1U) != 0, "a loop that returned has failed");
  } catch (...) {  // reported here
    s.book.mistake("a failure of for_each_loop has a wrong type");
  }
}

gyre::task<> call_every_loop(scene& s, choices& choose) {
  const std::size_t failing = choose.one_in(2) ? 0 : choose.below(std::size_t{1} << s.loops->size());
  const std::chrono::microseconds time = choose.one_in(2) ? 0us : short_time(choose);
  auto each = [&s, failing, time]() -> gyre::task<counted> {
    const std::size_t here = gyre::event_loop::current().index();
    if (time > 0us) co_await gyre::sleep(time);
    if ((failing >> here & 1U) != 0) throw expected_failure(s.book, static_cast<unsigned>(here));
    co_return counted(s.book, static_cast<unsigned>(here));
  };
  try {
    const std::vector<counted> results = co_await gyre::for_each_loop(each);
    s.book.expect(failing == 0, "for_each_loop returned although a loop has failed");
    s.book.expect(results.size() == s.loops->size(), "for_each_loop has left out a loop");
    for (std::size_t i = 0; i < results.size(); ++i)
      s.book.expect(results[i].value == i, "a result of for_each_loop is in a wrong place");
  } catch (const gyre::exception_group& group) {
    for (const std::exception_ptr& each_failure : group) check_failure(s, each_failure, failing);
  } catch (const expected_failure&) {
    check_failure(s, std::current_exception(), failing);
  }
}

gyre::task<> send_or_receive(scene& s, choices& choose) {
  const std::chrono::microseconds limit = short_time(choose);
  if (choose.one_in(2)) {
    const auto sent = co_await gyre::as_expected(gyre::timeout(limit, s.channel.send(counted(s.book, 7))));
    if (sent) ++s.book.sent;
  } else {
    const auto item = co_await gyre::as_expected(gyre::timeout(limit, s.channel.receive()));
    if (item && item->has_value()) {
      ++s.book.received;
      s.book.expect((*item)->value == 7, "a message has changed");
    }
  }
}

gyre::task<> clean_up_there(scene& s) {
  co_await gyre::yield();
  co_await gyre::sleep(10us);
  s.use_tally();
  ++s.book.clean_ups_done;
}

/// Works until its time is over or until it is cancelled, and then cleans up on another loop.
gyre::task<> clean_up_afterwards(scene& s, choices& choose, gyre::event_loop& there) {
  gyre::event_loop& elsewhere = s.any_loop(choose);
  auto work = [time = choose.one_in(2) ? 1h : short_time(choose)]() -> gyre::task<> { co_await gyre::sleep(time); };
  s.book.clean_ups_due += 2;
  try {
    if (choose.one_in(2))
      co_await gyre::timeout(1ms, work);
    else
      co_await gyre::on(elsewhere, work);
  } catch (const gyre::cancelled&) {  // delivered again after the clean-up
  } catch (const gyre::timed_out&) {  // one of the outcomes
  }
  auto plain = [&s] { ++s.book.clean_ups_done; };
  auto task = [&s]() -> gyre::task<> { co_await clean_up_there(s); };
  co_await gyre::shield(gyre::on(there, plain));
  co_await gyre::shield(gyre::on(elsewhere, task));
  co_await gyre::yield();
}

gyre::task<> act_once(scene& s, choices& choose, int depth) {
  gyre::event_loop& there = s.any_loop(choose);
  switch (choose.below(12)) {
    case 0:
      co_return co_await gyre::yield();
    case 1:
      co_return co_await gyre::sleep(short_time(choose));
    case 2:
      co_return co_await start_task(s, choose, there);
    case 3:
      co_return co_await limit_call(s, choose, there);
    case 4:
      co_return co_await race_calls(s, choose, there);
    case 5:
      co_return co_await call_every_loop(s, choose);
    case 6:
      co_return co_await send_or_receive(s, choose);
    case 7:
      if (choose.one_in(2)) co_return co_await clean_up_afterwards(s, choose, there);
      co_return s.use_tally();
    case 8:
    case 9:
      co_return co_await call_plain(s, choose, there);
    default:
      if (depth > 0) co_return co_await call_task(s, choose, there, depth);
      co_return co_await call_plain(s, choose, there);
  }
}

gyre::task<> act(scene& s, unsigned seed, int depth) {
  choices choose(seed);
  const counted in_frame(s.book, seed);
  const std::size_t steps = choose.between(1, 5);
  for (std::size_t i = 0; i < steps; ++i) co_await act_once(s, choose, depth);
}

/// A task without an end, for which nobody waits.
gyre::task<> act_for_ever(scene& s, unsigned seed) {
  try {
    for (unsigned round = 0;; ++round) {
      co_await act(s, seed + round, 3);
      co_await gyre::yield();
    }
  } catch (const gyre::task_cancelled&) {  // at the end, the task that it awaits may end first
    s.book.expect(s.loops->is_ending(), "a task was cancelled before the end");
  } catch (const std::exception& failure) {
    s.book.mistake(std::string("a task failed: ") + failure.what());
  }
}

gyre::task<> main_of_scene(scene& s, unsigned seed) {
  choices choose(seed);
  s.loops = gyre::event_loop::current().group();
  auto begin = [&s, seed] {
    gyre::event_loop& here = gyre::event_loop::current();
    here.set_exception_handler(&note_background_failure, &s.book);
    for (unsigned i = 0; i < 3; ++i)
      gyre::spawn(act_for_ever(s, seed * 1000 + static_cast<unsigned>(here.index()) * 100 + i)).detach();
  };
  co_await gyre::for_each_loop(begin);
  if (choose.one_in(2)) {
    auto act_too = [&s, seed]() -> gyre::task<> { co_await act(s, seed, 3); };
    try {
      co_await gyre::timeout(20ms, act_too);  // some of the tasks sleep until they are cancelled
    } catch (const gyre::timed_out&) {        // one of the two outcomes
    }
  }
  if (choose.one_in(2)) co_await gyre::sleep(std::chrono::microseconds(choose.below(2000)));
  if (choose.one_in(4)) throw expected_failure(s.book, seed);
}

}  // namespace

TEST(loops_stress_threads, tasks_of_several_loops_call_each_other_until_the_main_task_ends) {
  for_each_seed(400, [](unsigned seed) {
    scene s;
    try {
      gyre::run([&]() -> gyre::task<> { co_await main_of_scene(s, seed); }, {.threads = 3 + seed % 2});
    } catch (const expected_failure& failure) {
      EXPECT_EQ(failure.id.value, seed);
    }
    check(s);
  });
}
