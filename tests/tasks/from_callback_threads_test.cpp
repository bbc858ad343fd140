// tests/tasks/from_callback_threads_test.cpp: callbacks that arrive at once, later, from another thread, twice or
// never.
#include <gyre/tasks/from_callback.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;

TEST(from_callback_threads, a_call_inside_the_initiation_is_a_result) {
  run_virtual([]() -> gyre::task<> {
    auto at_once = [](auto done) { done(42); };
    EXPECT_EQ(co_await gyre::from_callback<int>(at_once), 42);
    auto no_value = [](auto done) { done(); };
    co_await gyre::from_callback<void>(no_value);
  });
}

static_assert(!std::is_invocable_v<gyre::awaited_callback<int>&>, "a forgotten value");
static_assert(std::is_invocable_v<gyre::awaited_callback<void>&>);

TEST(from_callback_threads, a_call_from_another_thread_resumes_on_the_loop) {
  gyre::run([]() -> gyre::task<> {
    const auto here = std::this_thread::get_id();
    std::thread thread;
    auto start = [&](std::function<void(std::string)> done) {
      thread = std::thread([done] { done("from a thread"); });
    };
    EXPECT_EQ(co_await gyre::from_callback<std::string>(start), "from a thread");
    EXPECT_EQ(std::this_thread::get_id(), here);
    thread.join();
  });
}

TEST(from_callback_threads, errors_arrive_as_what_they_are) {
  run_virtual([]() -> gyre::task<> {
    auto with_code = [](auto done) { done.fail(std::make_error_code(std::errc::connection_refused)); };
    auto with_exception = [](auto done) { done.fail(std::make_exception_ptr(std::out_of_range("that"))); };
    auto throws = [](const auto&) { throw std::runtime_error("could not start"); };
    EXPECT_THROW(co_await gyre::from_callback<int>(with_code), std::system_error);
    const auto outcome = co_await gyre::as_expected(gyre::from_callback<int>(with_code));
    EXPECT_EQ(outcome.error(), std::errc::connection_refused);
    EXPECT_THROW(co_await gyre::from_callback<int>(with_exception), std::out_of_range);
    EXPECT_EQ(co_await error_of(gyre::from_callback<int>(throws)), "could not start");
  });
}

TEST(from_callback_threads, an_exception_of_the_constructor_of_the_value_is_thrown_by_the_await) {
  run_virtual([]() -> gyre::task<> {
    struct refuses {
      refuses(int n) { throw std::out_of_range(std::to_string(n)); }  // NOLINT(google-explicit-constructor)
    };
    auto begin = [](const gyre::awaited_callback<refuses>& done) { done(5); };
    auto waiting = gyre::timeout(1s, gyre::from_callback<refuses>(begin));
    EXPECT_EQ(co_await error_of(std::move(waiting)), "5");
  });
}

TEST(from_callback_threads, a_failure_without_an_error_says_so) {
  run_virtual([]() -> gyre::task<> {
    auto no_code = [](const gyre::awaited_callback<std::string>& done) { done.fail(std::error_code()); };
    auto no_exception = [](const gyre::awaited_callback<std::string>& done) { done.fail(std::exception_ptr()); };
    EXPECT_THROW((void)co_await gyre::from_callback<std::string>(no_code), gyre::callback_failed_without_error);
    EXPECT_THROW((void)co_await gyre::from_callback<std::string>(no_exception), gyre::callback_failed_without_error);
  });
}

TEST(from_callback_threads, the_first_call_counts) {
  run_virtual([]() -> gyre::task<> {
    auto twice = [](auto done) {
      done(1);
      done(2);
      done.fail(std::make_error_code(std::errc::io_error));
    };
    EXPECT_EQ(co_await gyre::from_callback<int>(twice), 1);
  });
}

TEST(from_callback_threads, a_callback_that_nobody_can_call_any_more_is_an_error_and_no_hang) {
  run_virtual([]() -> gyre::task<> {
    auto forgets = [](const auto&) {};
    EXPECT_THROW(co_await gyre::from_callback<int>(forgets), gyre::callback_dropped);
  });
}

namespace {

/// A library that keeps the callback of an operation.
struct keeping_library {
  std::optional<gyre::awaited_callback<int>> kept;

  gyre::task<int> run() {
    auto keep = [this](const gyre::awaited_callback<int>& done) { kept.emplace(done); };
    co_return co_await gyre::from_callback<int>(keep);
  }
  template <class Hook>
  gyre::task<int> run(Hook on_cancel) {
    auto keep = [this](const gyre::awaited_callback<int>& done) { kept.emplace(done); };
    co_return co_await gyre::from_callback<int>(keep, on_cancel);
  }
  /// Releases the operation after its last call.
  void finish(int value) {
    (*kept)(value);
    kept.reset();
  }
};

}  // namespace

TEST(from_callback_threads, a_cancel_without_a_hook_stops_waiting_and_later_calls_are_ignored) {
  run_virtual([]() -> gyre::task<> {
    keeping_library library;
    EXPECT_TRUE(co_await is_cancelled_after(1ms, library.run()));
    library.finish(1);
  });
}

TEST(from_callback_threads, a_cancel_with_a_hook_waits_for_the_call_that_it_brings_about) {
  run_virtual([]() -> gyre::task<> {
    keeping_library library;
    bool asked = false;
    auto on_cancel = [&] { asked = true; };
    auto task = gyre::spawn(library.run(on_cancel));
    co_await gyre::yield();
    task.cancel();
    co_await gyre::yield();
    EXPECT_TRUE(asked);
    EXPECT_FALSE(task.done());
    library.kept->fail(std::make_error_code(std::errc::operation_canceled));
    co_await task.wait();
    EXPECT_TRUE(task.state().was_cancelled());
    library.kept.reset();
  });
}

// The ways in which a library may end an operation that is asked to end.
enum class answer : int { error_code, dropped, exception };

gyre::task<int> answered_when_cancelled(answer how) {
  keeping_library library;
  auto on_cancel = [&] {
    if (how == answer::error_code) library.kept->fail(std::make_error_code(std::errc::interrupted));
    if (how == answer::exception) library.kept->fail(std::make_exception_ptr(std::runtime_error("broken")));
    library.kept.reset();
  };
  co_return co_await library.run(on_cancel);
}

TEST(from_callback_threads, a_time_limit_on_the_operation_itself_is_timed_out) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::awaited_callback<int>> kept;
    auto keep = [&](const gyre::awaited_callback<int>& done) { kept.emplace(done); };
    auto on_cancel = [&] { kept->fail(std::make_error_code(std::errc::interrupted)); };
    auto limited = gyre::timeout(5ms, gyre::from_callback<int>(keep, on_cancel));
    EXPECT_THROW((void)co_await std::move(limited), gyre::timed_out);
    const auto outcome = co_await gyre::as_expected(gyre::timeout(5ms, gyre::from_callback<int>(keep, on_cancel)));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    kept.reset();
  });
}

TEST(from_callback_threads, a_callback_that_is_dropped_when_it_was_asked_to_end_is_the_cancel) {
  run_virtual([]() -> gyre::task<> {
    for (const answer how : {answer::error_code, answer::dropped})
      EXPECT_THROW((void)co_await gyre::timeout(5ms, answered_when_cancelled(how)), gyre::timed_out);
  });
}

TEST(from_callback_threads, an_exception_that_a_cancel_brings_about_is_not_lost) {
  run_virtual([]() -> gyre::task<> {
    auto waiting = gyre::timeout(5ms, answered_when_cancelled(answer::exception));
    EXPECT_EQ(co_await error_of(std::move(waiting)), "broken");
  });
}

TEST(from_callback_threads, the_hook_is_not_called_after_the_callback) {
  run_virtual([]() -> gyre::task<> {
    keeping_library library;
    bool asked = false;
    auto on_cancel = [&] { asked = true; };
    auto task = gyre::spawn(library.run(on_cancel));
    co_await gyre::yield();
    library.finish(5);  // the task has not yet been notified
    task.cancel();
    EXPECT_EQ(co_await std::move(task), 5);
    EXPECT_FALSE(asked);
  });
}

TEST(from_callback_threads, an_exception_of_the_hook_is_reported_and_the_await_goes_on_waiting) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    keeping_library library;
    auto on_cancel = [] { throw std::runtime_error("hook"); };
    auto task = gyre::spawn(library.run(on_cancel));
    co_await gyre::yield();
    task.cancel();
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "on_cancel of from_callback");
    library.finish(5);
    EXPECT_EQ(co_await std::move(task), 5);
  });
}

// Only a sanitizer reports a race. A lost wake-up would hang the test.
TEST(from_callback_threads, calls_race_with_cancels_from_another_thread) {
  gyre::run([]() -> gyre::task<> {
    for (int i = 0; i < 200; ++i) {
      std::thread thread;
      auto task = gyre::spawn([&]() -> gyre::task<> {
        auto start = [&](const gyre::awaited_callback<int>& done) { thread = std::thread([done] { done(1); }); };
        (void)co_await gyre::from_callback<int>(start);
      });
      co_await gyre::yield();
      if (i % 2 == 0) co_await gyre::yield();
      task.cancel();
      co_await task.wait();
      if (thread.joinable()) thread.join();
    }
  });
}

// Only a sanitizer reports that the last call uses the loop.
TEST(from_callback_threads, a_callback_may_outlive_the_loop) {
  keeping_library library;
  gyre::run([&]() -> gyre::task<> { EXPECT_THROW(co_await gyre::timeout(1ms, library.run()), gyre::timed_out); });
  library.finish(1);
}
