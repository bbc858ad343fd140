// tests/support/turns_of_others.hpp: whether a task lets others run.
#pragma once

#include <gyre/gyre.hpp>

namespace gyre_test {

/// The number of turns that another task gets while `work` runs.
inline gyre::task<int> turns_of_others_during(gyre::task<> work) {
  int turns = 0;
  auto count_turns = [&]() -> gyre::task<> {
    for (;;) {
      co_await gyre::yield();
      ++turns;
    }
  };
  auto counter = gyre::spawn(count_turns);
  co_await std::move(work);
  counter.cancel();
  co_await counter.wait();
  co_return turns;
}

}  // namespace gyre_test
