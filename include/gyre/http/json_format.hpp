// gyre/http/json_format.hpp: how values of the program become JSON, by whichever library the program uses.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gyre::http {

/// Specialized by the program, for one type or, with a constraint, for all types that its JSON library knows. One or both of
///
///   static std::string write(const T& value);
///   static T read(std::string_view text);  // throws a std::exception when the text is no such value
///
/// Then `response::json(value)` and `co_await request.json<T>()` work.
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
