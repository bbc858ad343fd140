// gyre/coro/converted.hpp: constructs a value through an implicit conversion. For authors of operations.
#pragma once

#include <type_traits>
#include <utility>

namespace gyre {

/// Converts as `return` does in a function whose result is a T: no explicit constructor is used. The T is constructed
/// in its final place when this call initializes it.
template <class T, class U>
  requires std::is_convertible_v<U, T>
constexpr T converted_to(U&& value) noexcept(std::is_nothrow_convertible_v<U, T>) {
  return std::forward<U>(value);
}

}  // namespace gyre
