// tests/tasks/other_loop.hpp: the other one of two loops.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/tasks/remote_coroutines.hpp"

#include <string>
#include <utility>

namespace gyre_test {

/// Runs `body` on loop 0 of a runtime of two loops.
template <class F>
void run_two_loops(F body) {
  gyre::run(std::move(body), {.threads = 2});
}

inline gyre::event_loop& other() {
  const gyre::event_loop& here = gyre::event_loop::current();
  return (*here.group())[1 - here.index()];
}

inline gyre::task<std::string> seven() { co_return co_await word(7); }

}  // namespace gyre_test
