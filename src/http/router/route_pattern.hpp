// src/http/router/route_pattern.hpp: the grammar of route patterns and prefixes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gyre::http {

/// The largest number of parameters of a pattern.
inline constexpr std::size_t max_parameters = 16;

/// One segment of a pattern.
struct pattern_segment {
  enum class kind : unsigned char { literal, parameter, rest };
  kind is = kind::literal;
  std::string_view text;  // of a literal, or the name
};

/// Splits a pattern. The views are parts of it. Errors: std::invalid_argument for a pattern that nobody can mean,
/// which says what to write instead: the notations of other routers, escapes, empty segments, "." and "..".
[[nodiscard]] std::vector<pattern_segment> split_pattern(std::string_view pattern);

/// The same for the prefix of a group or of a mount: a pattern that does not end with a slash and has no rest.
[[nodiscard]] std::vector<pattern_segment> split_prefix(std::string_view prefix);
/// Refuses what split_prefix refuses. An empty prefix is none, and allowed.
void check_prefix(std::string_view prefix);

}  // namespace gyre::http
