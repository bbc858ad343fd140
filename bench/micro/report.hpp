// bench/micro/report.hpp: measures coroutines of gyre.
#pragma once

#include <gyre/gyre.hpp>

#include "bench/micro/timing.hpp"

namespace bench {

/// `body(arguments..., n)` performs the operation n times.
template <class Body, class... Arguments>
gyre::task<> report(std::string_view name, Body body, Arguments... arguments) {
  stopwatch watch(name);
  do {
    watch.start();
    co_await body(arguments..., watch.repetitions());
  } while (watch.again());
}

}  // namespace bench
