// tests/net/random_pause.hpp: a moment in which other tasks run.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/support/seeds.hpp"

#include <chrono>
#include <cstddef>

namespace gyre_test {

/// Sleeps, yields for a while, or does nothing.
inline gyre::task<> pause(choices& choose) {
  switch (choose.below(6)) {
    case 0:
      co_await gyre::sleep(std::chrono::microseconds(choose.below(200)));
      break;
    case 1:
    case 2:
      for (std::size_t n = choose.below(150); n > 0; --n) co_await gyre::yield();
      break;
    default:
      break;
  }
}

}  // namespace gyre_test
