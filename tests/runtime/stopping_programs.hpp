// tests/runtime/stopping_programs.hpp: programs that are asked to stop, on virtual time.
#pragma once

#include <gyre/runtime/run.hpp>

#include "tests/support/virtual_run.hpp"

#include <chrono>
#include <csignal>
#include <utility>

namespace gyre_test {

/// Like run_main, but on virtual time, so that no test waits for 15 s.
inline int run_main_virtually(gyre::task<int> main, std::chrono::nanoseconds after_drain = 15s) {
  gyre::run_options options;
  options.loop.virtual_time = true;
  options.handle_signals = true;
  options.after_drain = after_drain;
  return gyre::run_main(std::move(main), options);
}

inline gyre::task<int> sleeps_after(int number) {
  ::raise(number);
  co_await gyre::sleep(1h);
  co_return 0;
}

}  // namespace gyre_test
