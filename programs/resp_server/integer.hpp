// programs/resp_server/integer.hpp: decimal integers as Redis reads and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace resp {

/// Reads a signed 64-bit decimal. Strict: no '+', blanks, leading zeros or "-0", nothing after it.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

inline constexpr std::size_t max_integer_digits = 20;  // "-9223372036854775808"

/// The decimal form of a number, in place.
class decimal {
 public:
  explicit decimal(std::int64_t value) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {digits_, size_}; }

 private:
  char digits_[max_integer_digits];
  std::uint8_t size_;
};

}  // namespace resp
