// tests/runtime/loop_local_threads_test.cpp: a value for each loop.
#include <gyre/runtime/runtime.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/sanitized.hpp"

using namespace std::chrono_literals;

TEST(runtime_threads, every_loop_has_its_own_value_which_ends_on_its_thread) {
  static std::atomic<int> made;
  static std::atomic<int> destroyed_at_home;
  made = destroyed_at_home = 0;
  struct value {
    value() : home(std::this_thread::get_id()) { ++made; }
    value(const value&) = delete;
    value& operator=(const value&) = delete;
    ~value() { destroyed_at_home += std::this_thread::get_id() == home ? 1 : 0; }
    std::thread::id home;
    int uses = 0;
  };
  const gyre::loop_local<value> values;
  gyre::run(
      [&]() -> gyre::task<> {
        co_await gyre::for_each_loop([&] { ++values->uses; });
        co_await gyre::for_each_loop([&] { ++values->uses; });
        const auto uses = co_await gyre::for_each_loop([&] { return values->uses; });
        EXPECT_EQ(uses, (std::vector<int>{2, 2, 2}));
      },
      {.threads = 3});
  EXPECT_EQ(made, 3);
  EXPECT_EQ(destroyed_at_home, 3);
}

TEST(runtime_threads, a_value_of_a_loop_may_own_a_stream_that_receives) {
  struct peer {
    std::optional<gyre::tcp_stream> stream;
  };
  const gyre::loop_local<peer> peers;
  gyre::run([&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto accepting = gyre::spawn([&]() -> gyre::task<> {
      auto accepted = co_await listener.accept();
      co_await accepted.write_all("x");
      (void)co_await accepted.receive();
    });
    peers->stream = co_await gyre::tcp_stream::connect(listener.local_address());
    EXPECT_EQ((co_await peers->stream->receive()).bytes().size(), 1U);  // it keeps receiving
    accepting.cancel();
    co_await accepting.wait();
  });
}

TEST(runtime_threads, a_value_of_a_loop_is_usable_while_tasks_clean_up) {
  struct log {
    ~log() { lines = -1; }
    int lines = 0;
  };
  const gyre::loop_local<log> logs;
  int seen = 0;
  gyre::run([&]() -> gyre::task<> {
    (void)logs->lines;
    auto work = [&]() -> gyre::task<> {
      const gyre::scope_exit end([&] { seen = ++logs->lines; });
      co_await gyre::sleep(1h);
    };
    gyre::spawn(work).detach();
    co_await gyre::yield();
  });
  EXPECT_EQ(seen, 1);
}
