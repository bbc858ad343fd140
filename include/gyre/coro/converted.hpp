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

/// A T for std::optional, whose emplace() would use an explicit constructor. The T is constructed by an implicit
/// conversion from one argument, in place, or by its constructor from any other number of arguments.
template <class T>
struct held_value {
  template <class U>
    requires std::is_convertible_v<U, T>
  explicit held_value(U&& from) noexcept(std::is_nothrow_convertible_v<U, T>)
      : value(converted_to<T>(std::forward<U>(from))) {}
  template <class... Args>
    requires(sizeof...(Args) != 1 && std::is_constructible_v<T, Args...>)
  explicit held_value(Args&&... from) : value(std::forward<Args>(from)...) {}
  held_value& operator=(held_value&&) = delete;

  T value;
};

}  // namespace gyre
