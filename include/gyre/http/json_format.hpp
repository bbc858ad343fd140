// gyre/http/json_format.hpp: converts values of the program to and from JSON, with any JSON library.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gyre::http {

/// The program specializes this for a type, or, with a constraint, for all types that its JSON library knows. It has
/// one or both of
///
///   static std::string write(const T& value);
///   static T read(std::string_view text);  // throws a std::exception when the text is not such a value
///
/// With it `response::json(value)` and `co_await request.json<T>()` work.
template <class T>
struct json_format;

template <class T>
concept json_writable = requires(const T& value) {
  { json_format<T>::write(value) } -> std::convertible_to<std::string>;
};

template <class T>
concept json_readable = requires(std::string_view text) {
  { json_format<T>::read(text) } -> std::convertible_to<T>;
};

}  // namespace gyre::http
