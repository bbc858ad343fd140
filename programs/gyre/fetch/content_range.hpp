// programs/gyre/fetch/content_range.hpp: which bytes a partial response has. RFC 9110 §14.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace programs {

struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
};

/// Parses a value such as "bytes 0-99/200". Returns nothing when the value is malformed or gives no total ("*"):
/// without a total, nobody can tell whether the file is complete.
[[nodiscard]] std::optional<content_range> parse_content_range(std::string_view value);

}  // namespace programs
