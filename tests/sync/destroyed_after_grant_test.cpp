// tests/sync/destroyed_after_grant_test.cpp: an object that is destroyed when no task waits any more, although tasks
// that waited have not resumed yet.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>
#include <string>

using namespace gyre_test;

namespace {

/// Memory of the size of an object that was just destroyed, so that a use of the object is noticed in every build.
template <class T>
std::unique_ptr<unsigned char[]> overwrite(std::unique_ptr<T>& object) {
  object.reset();
  auto reused = std::make_unique<unsigned char[]>(sizeof(T));
  std::fill_n(reused.get(), sizeof(T), 0x55);
  return reused;
}

}  // namespace

TEST(destroyed_after_notify, a_condition_variable_is_not_used_by_a_waiter_that_is_cancelled_before_it_has_the_mutex) {
  run_virtual([]() -> gyre::task<> {
    for (const bool granted : {false, true}) {
      gyre::mutex mutex;
      auto changed = std::make_unique<gyre::condition_variable>(mutex);
      const auto wait = [&]() -> gyre::task<> {
        const auto guard = co_await mutex.scoped_lock();
        co_await changed->wait();
      };
      auto first = gyre::spawn(wait);
      auto second = gyre::spawn(wait);
      co_await gyre::sleep(1ms);
      auto guard = co_await mutex.scoped_lock();
      changed->notify_all();
      const auto reused = overwrite(changed);
      if (granted) guard.unlock();
      first.cancel();
      if (!granted) guard.unlock();
      co_await first.wait();
      co_await second;
      EXPECT_TRUE(first.state().was_cancelled());
      EXPECT_FALSE(mutex.is_locked());
    }
  });
}

TEST(destroyed_after_cancel, a_shared_mutex_is_not_used_by_a_waiter_that_was_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto mutex = std::make_unique<gyre::shared_mutex>();
    co_await mutex->lock();
    const auto write = [&]() -> gyre::task<> { co_await mutex->lock(); };
    const auto read = [&]() -> gyre::task<> { const auto guard = co_await mutex->scoped_lock_shared(); };
    auto writer = gyre::spawn(write);
    auto reader = gyre::spawn(read);
    co_await gyre::sleep(1ms);
    writer.cancel();
    reader.cancel();
    const auto reused = overwrite(mutex);
    co_await writer.wait();
    co_await reader.wait();
    EXPECT_TRUE(writer.state().was_cancelled());
  });
}

TEST(destroyed_after_value, the_last_future_may_be_destroyed_before_the_task_that_waits_for_it_resumes) {
  run_virtual([]() -> gyre::task<> {
    const std::string text = "a text that is too long for the small buffer of a string";
    std::optional<gyre::promise<std::string>> promise(std::in_place);
    std::optional<gyre::future<std::string>> future(promise->get_future());
    const auto wait = [&]() -> gyre::task<std::string> { co_return co_await *future; };
    auto waiting = gyre::spawn(wait);
    co_await gyre::sleep(1ms);
    promise->set_value(text);
    promise.reset();
    future.reset();
    EXPECT_EQ(co_await waiting, text);
  });
}
