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

// Compares as many characters as T has bytes. Two may differ in the bit that distinguishes lower from upper case, where
// both are letters.
template <class T>
bool equal_letters(const char* a, const char* b) noexcept {
  constexpr T ones = ~T{} / 255;
  const T first = load<T>(a);
  const T second = load<T>(b);
  if (first == second) return true;
  const T lower = first | ones * 0x20;
  const T low_bits = lower & ones * 0x7f;
  const T at_least_a = low_bits + ones * (0x80 - 'a');  // in the highest bit of each byte
  const T more_than_z = low_bits + ones * (0x7f - 'z');
  const T letters = (at_least_a ^ more_than_z) & ~lower & ones * 0x80;
  return ((first ^ second) & ~(letters >> 2U)) == 0;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  const auto same = [&]<class T>(T, std::size_t at) { return equal_letters<T>(a.data() + at, b.data() + at); };
  constexpr std::size_t word = sizeof(std::uint64_t);
  const std::size_t size = a.size();
  if (size >= word) {  // the last bytes are compared with those before them
    for (std::size_t at = 0; at + word <= size; at += word)
      if (!same(std::uint64_t{}, at)) return false;
    return same(std::uint64_t{}, size - word);
  }
  if (size >= 4) return same(std::uint32_t{}, 0) && same(std::uint32_t{}, size - 4);
  return std::equal(a.begin(), a.end(), b.begin(), [](char c, char d) { return to_lower(c) == to_lower(d); });
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
    while (end < rest.size() && rest[end] != ',' && rest[end] != '"') ++end;
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

bool is_field_value(std::string_view text) noexcept {
  return text.empty() || (!is_space(text.front()) && !is_space(text.back()) && is_value(text));
}

bool may_be_trailer(std::string_view name) noexcept {
  constexpr std::string_view conditions = "If-";
  for (const std::string_view each : needed_before_body)
    if (std::ranges::equal(name, each, &is_same_to_gateways)) return false;
  return !std::ranges::equal(name.substr(0, conditions.size()), conditions, &is_same_to_gateways);
}

}  // namespace gyre::http
