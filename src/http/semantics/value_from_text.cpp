// src/http/semantics/value_from_text.cpp: parses numbers with std::from_chars, which ignores the locale.
#include <gyre/http/value_from_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace gyre::http {
namespace {

template <class T>
std::optional<T> whole_number(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// False for libc++ before version 20.
template <class T>
concept has_from_chars = requires(const char* text, T& value) { std::from_chars(text, text, value); };

// strtod(3) in the locale C, for the texts that from_chars accepts.
[[maybe_unused]] std::optional<double> real_by_strtod(std::string_view text) noexcept {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  std::array<char, 1024> terminated{};  // more digits than any double has
  if (text.empty() || text.size() >= terminated.size()) return std::nullopt;
  if (text.find_first_not_of("-.0123456789eE+") != std::string_view::npos || text.front() == '+') return std::nullopt;
  std::ranges::copy(text, terminated.begin());
  char* end = nullptr;
  errno = 0;
  const double value = strtod_l(terminated.data(), &end, plain);
  if (end != terminated.data() + text.size() || (errno == ERANGE && value == 0)) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> real_number(std::string_view text) noexcept {
  if constexpr (has_from_chars<T>)
    return whole_number<T>(text);
  else
    return real_by_strtod(text);
}

}  // namespace

std::optional<std::int64_t> signed_from_text(std::string_view text) noexcept {
  return whole_number<std::int64_t>(text);
}
std::optional<std::uint64_t> unsigned_from_text(std::string_view text) noexcept {
  return whole_number<std::uint64_t>(text);
}

std::optional<double> real_from_text(std::string_view text) noexcept {
  const auto value = real_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

}  // namespace gyre::http
