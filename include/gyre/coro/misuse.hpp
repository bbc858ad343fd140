// gyre/coro/misuse.hpp: stopping a program that broke a rule of the library.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre {

/// Prints why and ends the program: a rule of the library was broken and going on would corrupt memory.
[[noreturn]] GYRE_API void misuse(const char* sentence) noexcept;

/// False. For the static_assert of an overload that takes what is refused, and whose message names the remedy.
template <class...>
inline constexpr bool misused = false;

/// The same for `operation` on an `object` ("a stream") that is closed or was moved from.
[[noreturn]] GYRE_API void misuse_of_closed(const char* operation, const char* object) noexcept;

/// Checks that cost time where it counts are made in debug builds and under a sanitizer only.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool checks_everything = true;
#elif defined(__has_feature)
constexpr bool checks_everything = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool checks_everything = false;
#endif

}  // namespace gyre
