// src/coro/misuse.cpp: stops a program that broke a rule of the library.
#include <gyre/coro/misuse.hpp>

#include <cstdio>
#include <cstdlib>

namespace gyre {

void misuse(const char* sentence) noexcept {
  std::fprintf(stderr, "gyre: %s\n", sentence);
  std::abort();
}

void misuse_of_closed(const char* operation, const char* object) noexcept {
  std::fprintf(
      stderr,
      "gyre: %s on %s that is closed or was moved from: use the object that it was moved to, or open a new one\n",
      operation, object);
  std::abort();
}

void misuse_of_awaited(const char* object) noexcept {
  std::fprintf(stderr,
               "gyre: %s was destroyed while a task waits for it: cancel and await that task first, or keep the object "
               "longer\n",
               object);
  std::abort();
}

}  // namespace gyre
