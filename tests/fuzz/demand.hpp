// tests/fuzz/demand.hpp: what has to hold for any input.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}
