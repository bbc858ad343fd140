// programs/resp_server/integer.cpp: decimal integers as Redis reads and writes them.
#include "programs/resp_server/integer.hpp"

#include <charconv>

namespace resp {

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text.size() > max_integer_digits) return std::nullopt;
  if (text == "0") return 0;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

decimal::decimal(std::int64_t value) noexcept {
  const auto result = std::to_chars(digits_, digits_ + max_integer_digits, value);
  size_ = static_cast<std::uint8_t>(result.ptr - digits_);
}

}  // namespace resp
