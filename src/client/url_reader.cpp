// src/client/url_reader.cpp: strict where a URL decides whom to talk to, lenient in what a browser would encode.
#include "url_reader.hpp"

#include <gyre/http/characters.hpp>
#include <gyre/http/target.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/net/address.hpp>

#include "dot_segments.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gyre::http {
namespace {

bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

constexpr std::array<bool, 256> letters_digits_and(std::string_view others) noexcept {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = is_letter(static_cast<char>(c)) || is_digit(static_cast<char>(c));
  for (const char c : others) table[static_cast<unsigned char>(c)] = true;
  return table;
}
// In a path, a query or a fragment. RFC 3986 §3.3, §3.4. Brackets, and percent signs that encode nothing, are sent as
// they are, as browsers and curl do.
constexpr std::array<bool, 256> may_stand = letters_digits_and("-._~!$&'()*+,;=:@/?[]|%");
constexpr std::array<bool, 256> may_be_in_host = letters_digits_and("-._");

// The number of characters before one that is not in the table.
std::size_t size_of_run(std::string_view text, const std::array<bool, 256>& table) noexcept {
  std::size_t size = 0;
  while (size < text.size() && table[static_cast<unsigned char>(text[size])]) ++size;
  return size;
}

// Where a part ends: at one of these characters, or with the text.
template <char... Ends>
std::size_t size_before(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && ((text[size] != Ends) && ...)) ++size;
  return size;
}

struct scheme_port {
  std::string_view scheme;
  std::uint16_t port;
};
constexpr scheme_port schemes[] = {{"http", 80}, {"https", 443}, {"socks5", 1080}, {"socks5h", 1080}};

std::uint16_t default_port(std::string_view scheme) noexcept {
  for (const scheme_port& each : schemes)
    if (each.scheme == scheme) return each.port;
  return 0;
}

// The size of "scheme" in "scheme:...", or npos.
std::size_t size_of_scheme(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i == 0 ? std::string_view::npos : i;
    if (!is_letter(c) && (i == 0 || (!is_digit(c) && c != '+' && c != '-' && c != '.'))) break;
  }
  return std::string_view::npos;
}

}  // namespace

std::string shown_without_user(std::string_view text) {
  constexpr std::size_t max_shown = 200;
  constexpr std::string_view before_authority = "://";
  // A text that is no URL may have its at sign anywhere behind the password.
  const std::size_t at = text.rfind('@');
  std::string shown;
  if (at != std::string_view::npos) {
    const std::size_t colon = text.find(before_authority);
    if (colon < at) shown += printable(text.substr(0, colon + before_authority.size()));
    shown += "…";
    text.remove_prefix(at);
  }
  shown += printable(text.substr(0, max_shown));
  if (text.size() > max_shown) shown += "…";
  return shown;
}

std::string url_reader::sentence(std::string_view text) const {
  return "url \"" + shown_without_user(text) + "\": " + reason_;
}

bool url_reader::has_only_text(std::string_view text) noexcept {
  bool found = false;
  for (const char c : text) found |= is_control(c);  // without a branch, so that the compiler takes many at once
  return !found || refuse("it contains a control character; percent-encode it");
}

bool url_reader::read(std::string_view text) {
  if (!has_only_text(text)) return false;
  if (begins_with_origin_of_last(text)) {
    out_.text_.resize(out_.authority_end_);
    out_.user_.clear();
    out_.password_.clear();
    read_rest(text.substr(out_.authority_end_));
    return true;
  }
  out_.authority_end_ = 0;
  const std::size_t colon = text.starts_with("http://") ? 4 : size_of_scheme(text);
  if (colon == std::string_view::npos || !text.substr(colon).starts_with("://"))
    return refuse("it does not begin with http:// or https://");
  if (!read_scheme(text.substr(0, colon))) return false;
  text.remove_prefix(colon + 3);
  const std::size_t end = size_before<'/', '?', '#'>(text);
  if (!read_authority(text.substr(0, end))) return false;
  read_rest(text.substr(end));
  return true;
}

// The url holds another one, whose origin in its normal form is at the beginning of this text. Programs mostly ask one
// server again and again.
bool url_reader::begins_with_origin_of_last(std::string_view text) const noexcept {
  const std::size_t size = out_.authority_end_;
  if (size == 0 || text.size() < size || text.substr(0, size) != out_.origin()) return false;
  return text.size() == size || text[size] == '/' || text[size] == '?' || text[size] == '#';
}

bool url_reader::read_reference(const url& base, std::string_view reference) {
  if (!has_only_text(reference)) return false;
  if (size_of_scheme(reference) != std::string_view::npos) return read(reference);
  if (reference.starts_with("//")) {
    if (!read_scheme(base.scheme())) return false;
    reference.remove_prefix(2);
    const std::size_t end = size_before<'/', '?', '#'>(reference);
    if (!read_authority(reference.substr(0, end))) return false;
    read_rest(reference.substr(end));
    return true;
  }
  take_origin(base);
  const std::string_view path = base.path();
  if (reference.starts_with('/')) {
    read_rest(reference);
  } else if (reference.empty() || reference.front() == '?' || reference.front() == '#') {
    out_.text_.append(path);
    out_.path_end_ = out_.text_.size();
    if (!reference.starts_with('?')) out_.text_.append(base.part(base.path_end_, base.query_end_));
    out_.query_end_ = out_.text_.size();
    read_after_path(reference);
  } else {
    std::string merged(path.substr(0, path.rfind('/') + 1));
    merged += reference;
    read_rest(merged);
  }
  return true;
}

void url_reader::take_origin(const url& base) {
  out_.text_.assign(base.origin());
  out_.scheme_end_ = base.scheme_end_;
  out_.host_end_ = base.host_end_;
  out_.authority_end_ = base.authority_end_;
  out_.port_ = base.port_;
}

bool url_reader::read_scheme(std::string_view scheme) {
  out_.text_.assign(scheme);
  for (char& each : out_.text_) each = to_lower(each);
  out_.port_ = default_port(out_.text_);
  if (out_.port_ == 0) return refuse("the scheme is not http or https");
  out_.scheme_end_ = out_.text_.size();
  out_.text_ += "://";
  return true;
}

bool url_reader::read_authority(std::string_view authority) {
  out_.user_.clear();
  out_.password_.clear();
  // Browsers take it for a slash, so that the host is in front of it.
  if (authority.find('\\') != std::string_view::npos) return refuse("there is a backslash in or before the host");
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    if (!read_user(authority.substr(0, at))) return false;
    authority.remove_prefix(at + 1);
  }
  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return refuse("the bracket of the IPv6 address is not closed");
  const std::size_t colon = authority.find(':', bracket);
  if (colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    has_port = true;
  }
  if (!read_host(host)) return false;
  out_.host_end_ = out_.text_.size();
  if (has_port && !port.empty() && !read_port(port)) return false;
  out_.authority_end_ = out_.text_.size();
  return true;
}

bool url_reader::read_user(std::string_view user_and_password) {
  const std::size_t colon = std::min(user_and_password.find(':'), user_and_password.size());
  auto user = percent_decode(user_and_password.substr(0, colon));
  auto password = percent_decode(user_and_password.substr(std::min(colon + 1, user_and_password.size())));
  if (!user || !password) return refuse("a percent sign in the user name or password is not followed by two digits");
  if (user->find(':') != std::string::npos) return refuse("the user name contains a colon");
  out_.user_ = std::move(*user);
  out_.password_ = std::move(*password);
  return true;
}

bool url_reader::read_host(std::string_view host) {
  if (host.empty()) return refuse("it has no host");
  if (host.front() == '[') {
    const std::string_view inner = host.back() == ']' ? host.substr(1, host.size() - 2) : std::string_view();
    if (inner.find('%') != std::string_view::npos) return refuse("an IPv6 address with a zone is not supported");
    if (inner.find(':') == std::string_view::npos || !address::parse(inner, 0))
      return refuse("there is no IPv6 address between the brackets");
  } else {
    if (size_of_run(host, may_be_in_host) < host.size())
      return refuse(std::all_of(host.begin(), host.end(), is_ascii)
                        ? "the host contains a forbidden character"
                        : "host names in other scripts are not supported: write the name in its ASCII form, xn--…");
    constexpr std::size_t max_host_size = 255;
    if (host.size() > max_host_size || host.front() == '.') return refuse("the host is not a name");
  }
  const std::size_t begin = out_.text_.size();
  out_.text_.append(host);
  for (std::size_t i = begin; i < out_.text_.size(); ++i) out_.text_[i] = to_lower(out_.text_[i]);
  return true;
}

bool url_reader::read_port(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return refuse("the port is not a number");
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65'535) return refuse("the port is larger than 65535");
  }
  if (value == 0) return refuse("the port is 0");
  if (value == out_.port_) return true;
  out_.port_ = static_cast<std::uint16_t>(value);
  out_.text_ += ':';
  out_.text_ += std::to_string(value);
  return true;
}

void url_reader::read_rest(std::string_view path_and_more) {
  const std::size_t end = size_before<'?', '#'>(path_and_more);
  const std::size_t begin = out_.text_.size();
  if (end == 0) out_.text_ += '/';
  append_encoded(path_and_more.substr(0, end));
  remove_dot_segments(out_.text_, begin);
  out_.path_end_ = out_.query_end_ = out_.text_.size();
  read_after_path(path_and_more.substr(end));
}

void url_reader::read_after_path(std::string_view rest) {
  const std::size_t sign = std::min(rest.find('#'), rest.size());
  if (sign > 0) {  // begins with "?"
    append_encoded(rest.substr(0, sign));
    out_.query_end_ = out_.text_.size();
  }
  if (sign == rest.size()) return;
  out_.text_ += '#';
  append_encoded(rest.substr(sign + 1));
}

void url_reader::append_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (;;) {
    const std::size_t size = size_of_run(text, may_stand);
    out_.text_.append(text.substr(0, size));
    if (size == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[size]);
    out_.text_ += '%';
    out_.text_ += digits[byte >> 4U];
    out_.text_ += digits[byte & 15U];
    text.remove_prefix(size + 1);
  }
}

}  // namespace gyre::http
