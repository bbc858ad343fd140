// gyre/http/value_from_text.hpp: converts the text of a parameter to a number.
#pragma once

#include <gyre/attributes.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace gyre::http {

template <class T>
concept number_from_text = (std::integral<T> && !std::same_as<T, char>) || std::floating_point<T>;

[[nodiscard]] GYRE_API std::optional<std::int64_t> signed_from_text(std::string_view text) noexcept;
[[nodiscard]] GYRE_API std::optional<std::uint64_t> unsigned_from_text(std::string_view text) noexcept;
/// Accepts finite values only.
[[nodiscard]] GYRE_API std::optional<double> real_from_text(std::string_view text) noexcept;

/// Parses the whole text as a decimal number that T can hold, or "true", "false", "1" and "0" for bool. Real numbers
/// are finite. No white space, no "+".
template <number_from_text T>
[[nodiscard]] std::optional<T> value_from_text(std::string_view text) noexcept {
  if constexpr (std::same_as<T, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
  } else if constexpr (std::floating_point<T>) {
    const auto value = real_from_text(text);
    if (!value) return std::nullopt;
    const auto rounded = static_cast<T>(*value);
    if (rounded < std::numeric_limits<T>::lowest() || rounded > std::numeric_limits<T>::max()) return std::nullopt;
    return rounded;
  } else if constexpr (std::signed_integral<T>) {
    const auto value = signed_from_text(text);
    if (!value || *value < std::numeric_limits<T>::min() || *value > std::numeric_limits<T>::max()) return std::nullopt;
    return static_cast<T>(*value);
  } else {
    const auto value = unsigned_from_text(text);
    if (!value || *value > std::numeric_limits<T>::max()) return std::nullopt;
    return static_cast<T>(*value);
  }
}

}  // namespace gyre::http
