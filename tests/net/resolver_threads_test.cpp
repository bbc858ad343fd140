// tests/net/resolver_threads_test.cpp: lookups that block, are abandoned, or outlive the loop that requested them.
#include <gyre/net/resolver.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/gate.hpp"

#include <atomic>
#include <optional>
#include <thread>

using namespace gyre_test;
using gyre::address;

namespace {

constexpr gyre::resolve_options gated{.lookup = gate::look_up};

std::string host_name(int number) { return "host-" + std::to_string(number) + ".test"; }

gyre::task<> until_begun(int count) {
  while (gate::begun() < count) co_await gyre::sleep(1ms);
}

enum class outcome { unfinished, resolved, cancelled };

gyre::task<> look_up_and_note(int number, outcome& result, gyre::resolve_options options = gated) {
  try {
    const auto found = co_await gyre::resolve(host_name(number), 80, options);
    const std::string expected = "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256) + ":80";
    EXPECT_EQ(found.at(0).string(), expected);
    result = outcome::resolved;
  } catch (const gyre::cancelled&) {
    result = outcome::cancelled;
    throw;
  }
}

// Abandoned lookups still run. The next test begins only after they have ended.
void wait_for_threads(int lookups) {
  gate::open();
  EXPECT_TRUE(gate::wait_until_ended(lookups));
}

}  // namespace

TEST(resolver_threads, the_lookup_runs_on_another_thread) {
  static std::thread::id where;
  const gyre::resolve_options options{.lookup = [](const std::string&) -> gyre::lookup_result {
    where = std::this_thread::get_id();
    return {{address::loopback_v4(0)}, {}};
  }};
  (void)gyre::run(gyre::resolve("a.test", 80, options));
  EXPECT_NE(where, std::thread::id());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(resolver_threads, the_loop_goes_on_while_a_lookup_blocks) {
  gate::close();
  run_test([]() -> gyre::task<> {
    outcome result{};
    auto handle = gyre::spawn(look_up_and_note(1, result));
    co_await until_begun(1);
    for (int i = 0; i < 10; ++i) co_await gyre::sleep(1ms);
    EXPECT_EQ(result, outcome::unfinished);
    gate::open();
    co_await handle;
    EXPECT_EQ(result, outcome::resolved);
  });
}

TEST(resolver_threads, a_cancel_before_it_begins_starts_no_lookup) {
  gate::close();
  run_test([]() -> gyre::task<> {
    bool was_cancelled = false;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.cancel();
      try {
        co_await gyre::resolve(host_name(1), 80, gated);
      } catch (const gyre::cancelled&) {
        was_cancelled = true;
        throw;
      }
    };
    co_await gyre::task_group::scope(body);
    EXPECT_TRUE(was_cancelled);
  });
  EXPECT_EQ(gate::begun(), 0);
}

TEST(resolver_threads, a_cancel_does_not_wait_for_the_lookup) {
  gate::close();
  run_test([]() -> gyre::task<> {
    outcome result{};
    auto handle = gyre::spawn(look_up_and_note(1, result));
    co_await until_begun(1);
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(result, outcome::cancelled);
    EXPECT_EQ(gate::ended(), 0);
  });
  EXPECT_EQ(gate::ended(), 0);  // the end of the loop does not wait for it either
  wait_for_threads(1);
}

TEST(resolver_threads, a_time_out_does_not_wait_for_the_lookup) {
  gate::close();
  run_test([]() -> gyre::task<> {
    auto limited = gyre::timeout(5ms, gyre::resolve(host_name(1), 80, gated));
    const std::string error = co_await error_of(std::move(limited));
    EXPECT_TRUE(error.starts_with("timeout: timed out after 5 ms, waiting at ")) << error;
  });
  EXPECT_EQ(gate::ended(), 0);
  wait_for_threads(gate::begun());
}

TEST(resolver_threads, a_second_cancel_changes_nothing) {
  gate::close();
  run_test([]() -> gyre::task<> {
    outcome result{};
    auto body = [&]() -> gyre::task<> { co_await gyre::timeout(60s, look_up_and_note(1, result)); };
    auto handle = gyre::spawn(body);
    co_await until_begun(1);
    handle.cancel();
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(result, outcome::cancelled);
  });
  wait_for_threads(1);
}

TEST(resolver_threads, a_queued_lookup_that_is_cancelled_never_runs) {
  gate::close();
  constexpr int many = 500;  // more than the pool has threads
  int begun = 0;
  run_test([&]() -> gyre::task<> {
    std::vector<outcome> results(many);
    std::vector<gyre::task_handle<void>> handles;
    for (int i = 0; i < many; ++i)
      handles.push_back(gyre::spawn(look_up_and_note(i, results[static_cast<std::size_t>(i)])));
    co_await until_begun(static_cast<int>(gyre::io::blocking_pool::for_names().max_threads()));
    for (auto& handle : handles) handle.cancel();
    for (auto& handle : handles) co_await handle.wait();
    for (const outcome result : results) EXPECT_EQ(result, outcome::cancelled);
    begun = gate::begun();
  });
  EXPECT_LT(begun, many);
  wait_for_threads(begun);
  // A later lookup runs after those that were withdrawn, so none of them is still queued.
  EXPECT_FALSE(gyre::run(gyre::resolve(host_name(1), 80, gated)).empty());
  EXPECT_EQ(gate::begun(), begun + 1);
}

TEST(resolver_threads, a_result_that_came_before_the_cancel_wins) {
  gate::open();
  run_test([]() -> gyre::task<> {
    // The loop is blocked until the result has surely been posted. How long that takes depends on the system.
    outcome result{};
    for (auto pause = 1ms; result != outcome::resolved && pause < 5s; pause *= 2) {
      auto handle = gyre::spawn(look_up_and_note(1, result));
      const int ended = gate::ended();
      co_await gyre::yield();
      while (gate::ended() == ended) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(pause);
      handle.cancel();
      co_await handle.wait();
    }
    EXPECT_EQ(result, outcome::resolved);
  });
}

TEST(resolver_threads, a_shielded_lookup_is_waited_for) {
  gate::close();
  run_test([]() -> gyre::task<> {
    outcome result{};
    auto body = [&]() -> gyre::task<> { co_await gyre::shield(look_up_and_note(1, result)); };
    auto handle = gyre::spawn(body);
    co_await until_begun(1);
    handle.cancel();
    co_await gyre::sleep(5ms);
    EXPECT_FALSE(handle.done());
    gate::open();
    co_await handle.wait();
    EXPECT_EQ(result, outcome::resolved);
  });
}

TEST(resolver_threads, a_loop_ends_while_a_lookup_blocks) {
  gate::close();
  outcome result{};
  {
    gyre::event_loop loop;
    auto handle = gyre::spawn(look_up_and_note(1, result));
    while (gate::begun() == 0) loop.turn(false);
    handle.detach();
  }
  EXPECT_EQ(result, outcome::cancelled);
  EXPECT_EQ(gate::ended(), 0);
  wait_for_threads(1);
}

TEST(resolver_threads, a_lookup_that_ends_with_its_loop_is_safe) {
  std::vector<outcome> results(300);
  for (std::size_t i = 0; i < results.size(); ++i) {
    gate::close();
    std::optional<gyre::event_loop> loop(std::in_place);
    gyre::spawn(look_up_and_note(static_cast<int>(i), results[i])).detach();
    while (gate::begun() == 0) loop->turn(false);
    std::atomic<bool> go = false;
    std::thread opener([&] {
      while (!go) {
      }
      gate::open();
    });
    go = true;
    for (std::size_t n = 0; n < i % 8; ++n) loop->turn(false);
    loop.reset();
    EXPECT_NE(results[i], outcome::unfinished);
    opener.join();
    EXPECT_TRUE(gate::wait_until_ended(1));
  }
}

TEST(resolver_threads, a_lookup_that_ends_with_its_cancel_gives_its_result_or_cancelled) {
  run_test([]() -> gyre::task<> {
    for (int i = 0; i < 300; ++i) {
      gate::close();
      outcome result{};
      auto handle = gyre::spawn(look_up_and_note(i, result));
      co_await until_begun(1);
      std::thread opener(gate::open);
      for (int n = 0; n < i % 4; ++n) co_await gyre::yield();
      handle.cancel();
      co_await handle.wait();
      EXPECT_NE(result, outcome::unfinished);
      opener.join();
      EXPECT_TRUE(gate::wait_until_ended(1));
    }
  });
}

TEST(resolver_threads, many_lookups_at_once_each_get_their_own_result) {
  gate::close();
  run_test([]() -> gyre::task<> {
    std::vector<outcome> results(1000);
    auto all = [&](gyre::task_group& group) -> gyre::task<> {
      for (std::size_t i = 0; i < results.size(); ++i) group.spawn(look_up_and_note(static_cast<int>(i), results[i]));
      co_await until_begun(1);
      gate::open();
    };
    co_await gyre::task_group::scope(all);
    for (const outcome result : results) EXPECT_EQ(result, outcome::resolved);
  });
}

TEST(resolver_threads, loops_of_several_threads_share_the_pool) {
  const auto program = [] {
    for (int round = 0; round < 20; ++round) {
      outcome results[20] = {};
      gyre::run([&results]() -> gyre::task<> {
        std::vector<gyre::task_handle<void>> handles;
        for (int i = 0; i < 20; ++i)
          handles.push_back(gyre::spawn(look_up_and_note(i, results[i], {.lookup = look_up_at_once})));
        co_await gyre::yield();
        for (std::size_t i = 0; i < handles.size(); i += 2) handles[i].cancel();
        for (std::size_t i = 1; i < handles.size(); i += 4) co_await handles[i];
        for (gyre::task_handle<void>& handle : handles) handle.detach();  // the end of the loop handles the rest
      });
      for (int i = 0; i < 20; ++i) EXPECT_NE(results[i], outcome::unfinished);
      for (int i = 1; i < 20; i += 4) EXPECT_EQ(results[i], outcome::resolved);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(program);
  for (std::thread& thread : threads) thread.join();
}
