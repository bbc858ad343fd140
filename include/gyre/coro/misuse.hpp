// gyre/coro/misuse.hpp: stopping a program that broke a rule of the library.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre {

/// Prints why and ends the program: a rule of the library was broken and going on would corrupt memory.
[[noreturn]] GYRE_API void misuse(const char* sentence) noexcept;

}  // namespace gyre
