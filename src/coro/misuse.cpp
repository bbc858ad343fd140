// src/coro/misuse.cpp: stopping a program that broke a rule of the library.
#include <gyre/coro/misuse.hpp>

#include <cstdio>
#include <cstdlib>

namespace gyre {

void misuse(const char* sentence) noexcept {
  std::fprintf(stderr, "gyre: %s\n", sentence);
  std::abort();
}

}  // namespace gyre
