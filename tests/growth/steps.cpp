// tests/growth/steps.cpp: the compiler calls the first function at each block of the counted sources. The others
// replace those of libc in the whole program. Compiled without builtins, or their loops would become calls of
// themselves.
#include "tests/growth/steps.hpp"

namespace {

std::uint64_t counted = 0;

void touch(std::size_t size) noexcept { counted += size / 16 + 1; }

using byte = unsigned char;

}  // namespace

std::uint64_t gyre_test::steps() noexcept { return counted; }

extern "C" {

void __sanitizer_cov_trace_pc() { ++counted; }  // NOLINT(bugprone-reserved-identifier): the compiler's name

void* memmove(void* to, const void* from, std::size_t size) {
  touch(size);
  auto* const out = static_cast<byte*>(to);
  const auto* const in = static_cast<const byte*>(from);
  if (out < in)
    for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
  else
    for (std::size_t i = size; i > 0; --i) out[i - 1] = in[i - 1];
  return to;
}

void* memcpy(void* to, const void* from, std::size_t size) { return memmove(to, from, size); }

int memcmp(const void* a, const void* b, std::size_t size) {
  const auto* const left = static_cast<const byte*>(a);
  const auto* const right = static_cast<const byte*>(b);
  std::size_t i = 0;
  while (i < size && left[i] == right[i]) ++i;
  touch(i);
  return i == size ? 0 : left[i] - right[i];
}

void* memchr(const void* in, int wanted, std::size_t size) {
  const auto* const all = static_cast<const byte*>(in);
  std::size_t i = 0;
  while (i < size && all[i] != static_cast<byte>(wanted)) ++i;
  touch(i);
  return i == size ? nullptr : const_cast<byte*>(all + i);
}

}  // extern "C"
