// gyre/coro/misuse.hpp: stops a program that has broken a rule of the library. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/checked_build.hpp>

#include <type_traits>

namespace gyre {

/// Prints the reason, formatted as by printf, and ends the program. A rule of the library was broken, and continuing
/// would corrupt memory.
[[noreturn, gnu::format(printf, 1, 2)]] GYRE_API void misuse(const char* sentence, ...) noexcept;

/// The same for `operation` on an `object` ("a stream") that is closed or was moved from.
[[noreturn]] GYRE_API void misuse_of_closed(const char* operation, const char* object) noexcept;

/// The same for an `object` ("a mutex") that was destroyed while a task waits for it.
[[noreturn]] GYRE_API void misuse_of_awaited(const char* object) noexcept;

/// While it exists, the messages of this thread end with `text` in parentheses, unless that is empty. For tests that
/// repeat a scenario. Lifetime: `text` must outlive it, and may change. One at a time in a thread.
class GYRE_API misuse_remark {
 public:
  explicit misuse_remark(const char* text) noexcept;
  misuse_remark& operator=(misuse_remark&&) = delete;
  ~misuse_remark();
};

/// Always false. For the static_assert of an overload that rejects its argument and names the remedy in its message.
template <class...>
inline constexpr bool misused = false;

/// True for a parameter F&& that may be a temporary closure or aggregate whose members have destructors. g++ 12
/// destroys them twice when the temporary is an operand in the full expression of a co_await.
template <class F>
inline constexpr bool may_be_destroyed_twice =
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    !std::is_lvalue_reference_v<F> && !std::is_trivially_destructible_v<F> &&
    (std::is_aggregate_v<F> || !std::is_move_assignable_v<F>);  // closures are not assignable; std::function is
#else
    false;
#endif

}  // namespace gyre
