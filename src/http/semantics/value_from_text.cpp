// src/http/semantics/value_from_text.cpp: parses numbers with std::from_chars, which ignores the locale.
#include <gyre/http/value_from_text.hpp>

#include <charconv>
#include <cmath>

namespace gyre::http {
namespace {

template <class T>
std::optional<T> whole_number(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> signed_from_text(std::string_view text) noexcept {
  return whole_number<std::int64_t>(text);
}
std::optional<std::uint64_t> unsigned_from_text(std::string_view text) noexcept {
  return whole_number<std::uint64_t>(text);
}

std::optional<double> real_from_text(std::string_view text) noexcept {
  const auto value = whole_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

}  // namespace gyre::http
