// gyre/coro/held_value.hpp: a value in a std::optional that an implicit conversion constructs. For authors of
// operations.
#pragma once

#include <gyre/coro/converted.hpp>

#include <type_traits>
#include <utility>

namespace gyre {

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
