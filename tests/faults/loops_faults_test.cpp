// tests/faults/loops_faults_test.cpp: an allocation that fails on any loop of a runtime.
#include "tests/faults/injector.hpp"
#include "tests/support/error_of.hpp"

#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

class loops_faults : public faults {};

gyre::task<std::string> long_text() {
  co_await gyre::yield();
  co_return std::string(100, 'x');
}

gyre::task<> fail_at_length() {
  co_await gyre::yield();
  throw std::runtime_error("a failure on another loop, told at some length");
}

/// Runs `body` on loop 0 of a runtime of three loops, while the thread of the scenario waits for it.
template <class Body>
void on_three_loops(fault_injection& f, Body body) {
  const gyre::runtime cores({.threads = 3});
  f.arm();
  gyre::blocking_run(cores.loop(0), std::move(body));
}

gyre::event_loop& loop_number(std::size_t index) { return (*gyre::event_loop::current().group())[index]; }

}  // namespace

TEST_P(loops_faults, a_runtime_that_cannot_start_leaves_no_thread) {
  survives([](fault_injection& f) -> gyre::task<> {
    f.arm();
    const gyre::runtime cores({.threads = 3});
    EXPECT_EQ(cores.size(), 3U);
    co_return;
  });
}

TEST_P(loops_faults, a_run_on_several_loops_that_cannot_start_leaves_no_thread) {
  survives([](fault_injection& f) -> gyre::task<> {
    fail_on_thread(f, [] { gyre::run([]() -> gyre::task<> { co_return; }, {.threads = 2}); });
    co_return;
  });
}

TEST_P(loops_faults, a_call_gives_its_value_or_fails) {
  survives([](fault_injection& f) -> gyre::task<> {
    on_three_loops(f, []() -> gyre::task<> {
      gyre::event_loop& there = loop_number(1);
      auto plain = [] { return std::string(100, 'x'); };
      EXPECT_EQ((co_await gyre::on(there, plain)).size(), 100U);
      EXPECT_EQ((co_await gyre::on(there, long_text)).size(), 100U);
      auto there_and_back = [&]() -> gyre::task<std::string> {
        co_return co_await gyre::on(loop_number(0), long_text);
      };
      EXPECT_EQ((co_await gyre::on(there, there_and_back)).size(), 100U);
      EXPECT_TRUE(co_await throws<std::exception>(gyre::on(there, fail_at_length)));
    });
    co_return;
  });
}

TEST_P(loops_faults, a_started_call_gives_its_value_or_fails) {
  survives([](fault_injection& f) -> gyre::task<> {
    on_three_loops(f, []() -> gyre::task<> {
      auto first = gyre::spawn_on(loop_number(1), long_text,
                                  {.name = "a name that is longer than what fits into the object itself"});
      auto second = gyre::spawn_on(loop_number(2), long_text);
      second.detach();
      EXPECT_EQ((co_await first).size(), 100U);
    });
    co_return;
  });
}

TEST_P(loops_faults, for_each_loop_gives_all_values_or_fails) {
  survives([](fault_injection& f) -> gyre::task<> {
    on_three_loops(f, []() -> gyre::task<> {
      EXPECT_EQ((co_await gyre::for_each_loop(long_text)).size(), 3U);
      auto plain = [] { return std::string(100, 'x'); };
      EXPECT_EQ((co_await gyre::for_each_loop(plain)).size(), 3U);
      EXPECT_TRUE(co_await throws<std::exception>(gyre::for_each_loop(fail_at_length)));
    });
    co_return;
  });
}

TEST_P(loops_faults, a_value_of_a_loop_is_made_or_the_next_call_tries_again) {
  survives([](fault_injection& f) -> gyre::task<> {
    static const gyre::loop_local<std::string> first([] { return std::string(100, 'x'); });
    static const gyre::loop_local<std::vector<int>> second([] { return std::vector<int>(first.get().size()); });
    on_three_loops(f, []() -> gyre::task<> {
      auto use = [] {
        try {
          return second->size();
        } catch (const std::bad_alloc&) {  // with fault_kind::shortage the second call fails, too
          return second->size();
        }
      };
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(co_await gyre::on(loop_number(i), use), 100U);
    });
    co_return;
  });
}

TEST_P(loops_faults, a_plain_function_on_another_loop_allocates_nothing) {
  survives([](fault_injection& f) -> gyre::task<> {
    const gyre::runtime cores({.threads = 1});
    gyre::event_loop& there = cores.loop(0);
    int answers = 0;
    for (int i = 0; i < 100; ++i) {
      if (i == 10) f.arm();  // in the steady state
      answers += co_await gyre::on(there, [] { return 1; });
    }
    f.disarm();
    EXPECT_EQ(answers, 100);
    EXPECT_FALSE(f.reached());
  });
}

INSTANTIATE_TEST_SUITE_P(one, loops_faults, testing::Values(fault_kind::allocation, fault_kind::shortage), kind_name);
