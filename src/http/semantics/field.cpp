// src/http/semantics/field.cpp: comparing names, splitting lists, checking values.
#include <gyre/http/field.hpp>

#include "characters.hpp"

#include <algorithm>

namespace gyre::http {
namespace {

constexpr std::string_view needed_before_body[] = {"Age",
                                                   "Authorization",
                                                   "Cache-Control",
                                                   "Connection",
                                                   "Content-Encoding",
                                                   "Content-Length",
                                                   "Content-Range",
                                                   "Content-Type",
                                                   "Cookie",
                                                   "Date",
                                                   "Expect",
                                                   "Expires",
                                                   "Host",
                                                   "HTTP2-Settings",
                                                   "Keep-Alive",
                                                   "Location",
                                                   "Max-Forwards",
                                                   "Origin",
                                                   "Pragma",
                                                   "Proxy-Authenticate",
                                                   "Proxy-Authorization",
                                                   "Proxy-Connection",
                                                   "Range",
                                                   "Retry-After",
                                                   "Set-Cookie",
                                                   "TE",
                                                   "Trailer",
                                                   "Transfer-Encoding",
                                                   "Upgrade",
                                                   "Vary",
                                                   "Via",
                                                   "Warning",
                                                   "WWW-Authenticate"};

// Gateways pass fields on as variables such as HTTP_CONTENT_TYPE. They treat '_' as '-', and some of them treat every
// character so that is no letter and no digit.
bool is_same_to_gateways(char a, char b) noexcept {
  const auto normal = [](char c) noexcept {
    const char lower = to_lower(c);
    return (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ? lower : '-';
  };
  return normal(a) == normal(b);
}

}  // namespace

// Most names that are equal are spelled alike, and most others differ in the first letter.
bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  std::size_t i = 0;
  while (i + sizeof(std::uint64_t) <= a.size() &&
         load<std::uint64_t>(a.data() + i) == load<std::uint64_t>(b.data() + i))
    i += sizeof(std::uint64_t);
  for (; i < a.size(); ++i)
    if (a[i] != b[i] && to_lower(a[i]) != to_lower(b[i])) return false;
  return true;
}

const field* find_field(std::span<const field> fields, std::string_view name) noexcept {
  for (const field& each : fields)
    if (each.name.size() == name.size() && equal_ignoring_case(each.name, name)) return &each;
  return nullptr;
}

std::string_view next_in_list(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < rest.size() && (quoted || rest[end] != ','); ++end) {
      if (rest[end] == '"')
        quoted = !quoted;
      else if (quoted && rest[end] == '\\')
        ++end;
    }
    end = std::min(end, rest.size());
    const std::string_view element = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!element.empty()) return element;
  }
  return {};
}

bool is_token(std::string_view text) noexcept {
  if (text.empty()) return false;
  return is_usual_name(text) || std::all_of(text.begin(), text.end(), &is_token_character);
}

bool is_field_value(std::string_view text) noexcept { return is_value(text) && trim(text).size() == text.size(); }

bool may_be_trailer(std::string_view name) noexcept {
  constexpr std::string_view conditions = "If-";
  for (const std::string_view each : needed_before_body)
    if (std::ranges::equal(name, each, &is_same_to_gateways)) return false;
  return !std::ranges::equal(name.substr(0, conditions.size()), conditions, &is_same_to_gateways);
}

}  // namespace gyre::http
