// tests/support/turns_of_others.hpp: whether a task lets others run.
#pragma once

#include <gyre/gyre.hpp>

#include <utility>

namespace gyre_test {

/// The number of turns that another task gets while `work` runs. It calls `look()` in each of them.
template <class Look>
gyre::task<int> turns_of_others_during(gyre::task<> work, Look look) {
  int turns = 0;
  auto count_turns = [&]() -> gyre::task<> {
    for (;;) {
      look();
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
inline gyre::task<int> turns_of_others_during(gyre::task<> work) {
  auto look = [] {};
  co_return co_await turns_of_others_during(std::move(work), look);
}

}  // namespace gyre_test
