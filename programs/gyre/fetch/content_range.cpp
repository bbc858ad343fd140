// programs/gyre/fetch/content_range.cpp
#include "programs/gyre/fetch/content_range.hpp"

#include <gyre/http/value_from_text.hpp>

namespace programs {

std::optional<content_range> parse_content_range(std::string_view value) {
  constexpr std::string_view unit = "bytes ";
  if (!value.starts_with(unit)) return std::nullopt;
  value.remove_prefix(unit.size());
  const auto dash = value.find('-');
  const auto slash = value.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) return std::nullopt;
  const auto first = gyre::http::value_from_text<std::uint64_t>(value.substr(0, dash));
  const auto last = gyre::http::value_from_text<std::uint64_t>(value.substr(dash + 1, slash - dash - 1));
  const auto total = gyre::http::value_from_text<std::uint64_t>(value.substr(slash + 1));
  if (!first || !last || !total || *first > *last || *last >= *total) return std::nullopt;
  return content_range{.first = *first, .last = *last, .total = *total};
}

}  // namespace programs
