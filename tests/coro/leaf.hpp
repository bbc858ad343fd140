// tests/coro/leaf.hpp: the operation that a task is suspended in.
#pragma once

#include <gyre/coro/cancel_scope.hpp>

namespace gyre_test {

/// Counts how often it is cancelled.
struct leaf : gyre::cancellable {
  int cancels = 0;
  leaf() {
    cancel = [](gyre::cancellable& c) noexcept { ++static_cast<leaf&>(c).cancels; };
  }
};

}  // namespace gyre_test
