// src/http/semantics/byte_range.cpp: parsing ranges, and joining those that touch.
#include <gyre/http/byte_range.hpp>
#include <gyre/http/field.hpp>

#include <algorithm>
#include <limits>

namespace gyre::http {
namespace {

// 1*DIGIT. A number that does not fit becomes the largest one, which is past every end anyway.
bool read_number(std::string_view text, std::uint64_t& out) noexcept {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  if (text.empty()) return false;
  out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    out = out > (max - digit) / 10 ? max : out * 10 + digit;
  }
  return true;
}

enum class position { malformed, outside, inside };

// "0-499", "500-" or "-500".
position read_range(std::string_view text, std::uint64_t size, byte_range& out) noexcept {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return position::malformed;
  const std::string_view before = text.substr(0, dash);
  const std::string_view after = text.substr(dash + 1);
  if (before.empty()) {
    std::uint64_t suffix = 0;
    if (!read_number(after, suffix)) return position::malformed;
    if (suffix == 0) return position::outside;
    suffix = std::min(suffix, size);
    out = {size - suffix, suffix};
    return position::inside;
  }
  std::uint64_t first = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  if (!read_number(before, first) || (!after.empty() && !read_number(after, last)) || last < first)
    return position::malformed;
  if (first >= size) return position::outside;
  out = {first, std::min(last, size - 1) - first + 1};
  return position::inside;
}

constexpr std::uint64_t end_of(byte_range range) noexcept { return range.first + range.length; }

// Appends a range, or joins it with the ranges that it touches, at the place of the first of them. Returns the
// number of ranges that it overlaps.
std::size_t join(std::vector<byte_range>& ranges, byte_range added) {
  byte_range joined = added;
  std::size_t overlaps = 0;
  std::size_t kept = 0;
  std::size_t place = ranges.size();
  for (const byte_range each : ranges) {
    if (each.first > end_of(added) || added.first > end_of(each)) {
      ranges[kept++] = each;
      continue;
    }
    if (each.first < end_of(added) && added.first < end_of(each)) ++overlaps;
    const std::uint64_t end = std::max(end_of(joined), end_of(each));
    joined.first = std::min(joined.first, each.first);
    joined.length = end - joined.first;
    if (place == ranges.size()) place = kept++;
  }
  if (place == ranges.size()) {
    ranges.push_back(joined);
  } else {
    ranges[place] = joined;
    ranges.resize(kept);
  }
  return overlaps;
}

}  // namespace

range_request parse_range(std::string_view value, std::uint64_t size, std::size_t limit) {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || !equal_ignoring_case(value.substr(0, equals), "bytes")) return {};
  std::string_view rest = value.substr(equals + 1);
  range_request request;
  std::size_t count = 0;
  std::size_t overlaps = 0;
  for (std::string_view text = next_in_list(rest); !text.empty(); text = next_in_list(rest)) {
    if (++count > limit) return {};
    byte_range range;
    const position where = read_range(text, size, range);
    if (where == position::malformed) return {};
    if (where == position::outside) continue;
    if (range.length == 0) return {};
    overlaps += join(request.ranges, range);
    if (overlaps > 1) return {};
  }
  if (count == 0) return {};
  request.kind = request.ranges.empty() ? range_kind::unsatisfiable : range_kind::partial;
  return request;
}

std::string content_range(byte_range range, std::uint64_t size) {
  std::string text = "bytes ";
  text.append(std::to_string(range.first)).append("-").append(std::to_string(end_of(range) - 1));
  return text.append("/").append(std::to_string(size));
}

std::string unsatisfied_range(std::uint64_t size) { return "bytes */" + std::to_string(size); }

}  // namespace gyre::http
