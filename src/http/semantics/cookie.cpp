// src/http/semantics/cookie.cpp: reads cookies as browsers send them, writes those that all read the same.
#include <gyre/http/cookie.hpp>

#include "characters.hpp"

#include <algorithm>
#include <stdexcept>

namespace gyre::http {
namespace {

constexpr std::size_t max_pair_size = 4096;       // the limit of browsers, RFC 6265 §6.1
constexpr std::size_t max_attribute_size = 1024;  // browsers ignore longer ones

bool is_cookie_octet(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}
bool is_cookie_value(std::string_view text) noexcept { return std::all_of(text.begin(), text.end(), &is_cookie_octet); }

bool starts_with_ignoring_case(std::string_view text, std::string_view start) noexcept {
  return equal_ignoring_case(text.substr(0, start.size()), start);
}

std::optional<cookie> parse_pair(std::string_view text) noexcept {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  cookie pair{text.substr(0, equals), trim(text.substr(equals + 1))};
  if (pair.value.size() >= 2 && pair.value.starts_with('"') && pair.value.ends_with('"')) {
    pair.value.remove_prefix(1);
    pair.value.remove_suffix(1);
  }
  if (!is_token(pair.name) || !is_field_value(pair.value)) return std::nullopt;
  return pair;
}

// Labels of letters, digits and hyphens, with dots between them. Not allowed: an address in brackets, a port,
// a leading dot (clients drop it).
bool is_domain(std::string_view text) noexcept {
  if (text.empty() || text.size() > 253) return false;
  char before = '.';
  for (const char c : text) {
    const bool letter = is_letter(c) || is_digit(c);
    if (!letter && c != '-' && c != '.') return false;
    if (!letter && before == '.') return false;
    if (c == '.' && before == '-') return false;
    before = c;
  }
  return before != '.' && before != '-';
}

bool is_path(std::string_view text) noexcept {
  const auto may_stand = [](char c) { return c >= 0x20 && c < 0x7f && c != ';'; };
  return text.starts_with('/') && !text.ends_with(' ') && std::all_of(text.begin(), text.end(), may_stand);
}

bool is_readable_date(unix_seconds when) noexcept {
  constexpr unix_seconds first = -11'644'473'600;  // 1601: clients reject earlier years, RFC 6265 §5.1.1
  constexpr unix_seconds last = 253'402'300'799;   // 9999
  return when >= first && when <= last;
}

// Returns why clients would reject or misread this cookie, or null when it is fine.
const char* find_fault(const set_cookie& it) noexcept {
  if (!is_token(it.name)) return "the name is not a token";
  if (!is_cookie_value(it.value)) return "the value holds what separates, white space, or what is not ASCII: encode it";
  if (it.name.size() + it.value.size() > max_pair_size) return "name and value are longer than 4096 bytes";
  if (!it.path.empty() && !is_path(it.path)) return "the path does not begin with a slash, or holds what it may not";
  if (it.path.size() > max_attribute_size) return "the path is longer than 1024 bytes";
  if (!it.domain.empty() && !is_domain(it.domain)) return "the domain is not the name of a host";
  if (it.max_age && *it.max_age < 0) return "the age is negative";
  if (it.expires && !is_readable_date(*it.expires)) return "it expires in a year that clients do not read";
  if (it.same_site == same_site_policy::none && !it.secure) return "SameSite=None wants Secure";
  if (starts_with_ignoring_case(it.name, "__Secure-") && !it.secure) return "the name wants Secure";
  if (starts_with_ignoring_case(it.name, "__Host-") && (!it.secure || it.path != "/" || !it.domain.empty()))
    return "the name wants Secure, the path \"/\" and no domain";
  return nullptr;
}

constexpr std::string_view same_site_text(same_site_policy policy) noexcept {
  switch (policy) {
    case same_site_policy::strict:
      return "; SameSite=Strict";
    case same_site_policy::lax:
      return "; SameSite=Lax";
    case same_site_policy::none:
      return "; SameSite=None";
    case same_site_policy::unset:
      break;
  }
  return {};
}

}  // namespace

std::optional<cookie> next_cookie(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view text = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const auto pair = parse_pair(text)) return pair;
  }
  return std::nullopt;
}

std::optional<std::string_view> find_cookie(std::string_view value, std::string_view name) noexcept {
  while (const auto each = next_cookie(value))
    if (each->name == name) return each->value;
  return std::nullopt;
}

std::optional<std::string_view> find_cookie(std::span<const field> fields, std::string_view name) noexcept {
  for (const field& each : fields) {
    if (!equal_ignoring_case(each.name, "Cookie")) continue;
    if (const auto found = find_cookie(each.value, name)) return found;
  }
  return std::nullopt;
}

cookie_range::iterator& cookie_range::iterator::operator++() noexcept {
  for (;;) {
    current_ = next_cookie(rest_);
    if (current_ || fields_.empty()) return *this;
    const field& next = fields_.front();
    fields_ = fields_.subspan(1);
    if (equal_ignoring_case(next.name, "Cookie")) rest_ = next.value;
  }
}

std::string format_set_cookie(const set_cookie& wanted) {
  if (const char* const fault = find_fault(wanted))
    throw std::invalid_argument("cookie \"" + std::string(wanted.name) + "\": " + fault);
  std::string text(wanted.name);
  text.append("=").append(wanted.value);
  if (!wanted.path.empty()) text.append("; Path=").append(wanted.path);
  if (!wanted.domain.empty()) text.append("; Domain=").append(wanted.domain);
  if (wanted.max_age) text.append("; Max-Age=").append(std::to_string(*wanted.max_age));
  if (wanted.expires) {
    const auto date = format_date(*wanted.expires);
    text.append("; Expires=").append(date.data(), date.size());
  }
  if (wanted.secure) text.append("; Secure");
  if (wanted.http_only) text.append("; HttpOnly");
  return text.append(same_site_text(wanted.same_site));
}

}  // namespace gyre::http
