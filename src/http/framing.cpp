// src/http/framing.cpp: the rules by which smuggling fails.
#include <gyre/http/framing.hpp>

#include "characters.hpp"

#include <array>
#include <limits>

namespace gyre::http {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr std::size_t longest_port = 5;

bool is_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// What the fields that matter here say, one after the other.
struct seen_fields {
  // Without data: there is no such field.
  std::string_view length;
  std::string_view host;
  bool has_encoding = false;
  bool chunked = false;
  bool unknown_encoding = false;
  bool close = false;
  bool keep_alive = false;
  bool connection_upgrade = false;
  bool several_upgrades = false;
  std::string_view upgrade;
  std::string_view expect;
  parse_error error = parse_error::none;

  void refuse(parse_error reason) noexcept {
    if (error == parse_error::none) error = reason;
  }
  void see(const field& f) noexcept;
  void see_encoding(std::string_view codings) noexcept;
  void see_connection(std::string_view options) noexcept;
};

// The lengths tell most names apart.
void seen_fields::see(const field& f) noexcept {
  switch (f.name.size()) {
    case 4:
      if (!is_name(f.name, "host")) return;
      if (host.data() != nullptr) refuse(parse_error::repeated_host);
      host = f.value;
      return;
    case 6:
      if (is_name(f.name, "expect")) expect = f.value;
      return;
    case 7:
      if (!is_name(f.name, "upgrade")) return;
      several_upgrades = upgrade.data() != nullptr;
      upgrade = f.value;
      return;
    case 10:
      if (is_name(f.name, "connection")) see_connection(f.value);
      return;
    case 14:
      if (!is_name(f.name, "content-length")) return;
      if (length.data() != nullptr) refuse(parse_error::bad_content_length);
      length = f.value;
      return;
    case 17:
      if (is_name(f.name, "transfer-encoding")) see_encoding(f.value);
      return;
    default:
      return;
  }
}

void seen_fields::see_encoding(std::string_view codings) noexcept {
  has_encoding = true;
  bool some = false;
  for (;;) {
    const std::string_view coding = next_in_list(codings);
    if (coding.empty()) break;
    some = true;
    if (chunked) refuse(parse_error::bad_transfer_encoding);  // it must be the last, and once
    if (equal_ignoring_case(coding, "chunked"))
      chunked = true;
    else
      unknown_encoding = true;
  }
  if (!some) refuse(parse_error::bad_transfer_encoding);
}

void seen_fields::see_connection(std::string_view options) noexcept {
  for (;;) {
    const std::string_view option = next_in_list(options);
    if (option.empty()) return;
    if (equal_ignoring_case(option, "close"))
      close = true;
    else if (equal_ignoring_case(option, "keep-alive"))
      keep_alive = true;
    else if (equal_ignoring_case(option, "upgrade"))
      connection_upgrade = true;
  }
}

seen_fields look_at(const head_parser& head) noexcept {
  seen_fields seen;
  for (const field& each : head.fields()) seen.see(each);
  return seen;
}

// Of a reg-name or an IPv4 address.
constexpr std::array<bool, 256> host_characters = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (const char c : std::string_view("-._~!$&'()*+,;=%")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Without a way out in the middle, which costs more than it saves.
bool are_host_characters(std::string_view text) noexcept {
  bool all = true;
  for (const char c : text) all &= host_characters[static_cast<unsigned char>(c)];
  return all;
}

// uri-host [ ":" port ], by its characters: RFC 9110 §7.2. Empty when the target has no authority; a port is never alone.
bool is_host(std::string_view host) noexcept {
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos || end < 3) return false;
    for (const char c : host.substr(1, end - 1))
      if (!is_hex_digit(c) && c != ':' && c != '.' && c != 'v' && c != '%') return false;
    port = host.substr(end + 1);
    if (!port.empty() && port.front() != ':') return false;
  } else {
    std::size_t digits = 0;
    while (digits < host.size() && is_digit(host[host.size() - 1 - digits])) ++digits;
    const std::size_t end = host.size() - digits;
    if (end == 0 || host[end - 1] != ':') return are_host_characters(host);
    return end > 1 && digits <= longest_port && are_host_characters(host.substr(0, end - 1));
  }
  if (port.size() > longest_port + 1) return false;
  for (std::size_t i = 1; i < port.size(); ++i)
    if (!is_digit(port[i])) return false;
  return true;
}

// origin-form, absolute-form, authority-form or asterisk-form, as the method wants it: RFC 9112 §3.2.
bool is_target_for(std::string_view method, std::string_view target) noexcept {
  if (method == "CONNECT") return target.find(':') != std::string_view::npos && is_host(target);
  if (target.front() == '/') return true;
  if (target == "*") return method == "OPTIONS";
  for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
    if (target.size() <= scheme.size() || !equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    const std::string_view rest = target.substr(scheme.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    return !authority.empty() && is_host(authority);
  }
  return false;
}

// The absolute form does, and that of CONNECT; then the Host field is ignored: RFC 9112 §3.2.2. Of a target that is_target_for.
bool names_host(std::string_view target) noexcept { return target.front() != '/' && target != "*"; }

parse_error find_body(const seen_fields& seen, int minor_version, framing& out) noexcept {
  if (seen.error != parse_error::none) return seen.error;
  if (seen.has_encoding) {
    if (seen.length.data() != nullptr) return parse_error::length_and_encoding;
    if (minor_version == 0) return parse_error::bad_transfer_encoding;  // RFC 9112 §6.1: faulty framing
    if (!seen.chunked) return parse_error::bad_transfer_encoding;       // §6.3: nobody knows where the body ends
    if (seen.unknown_encoding) return parse_error::unknown_transfer_encoding;
    out.body = body_kind::chunked;
  } else if (seen.length.data() != nullptr) {
    if (!parse_length(seen.length, out.length)) return parse_error::bad_content_length;
    out.body = out.length == 0 ? body_kind::none : body_kind::sized;
  }
  return parse_error::none;
}

bool stays_open(const seen_fields& seen, int minor_version) noexcept {
  return !seen.close && (minor_version > 0 || seen.keep_alive);
}

}  // namespace

bool parse_length(std::string_view text, std::uint64_t& out) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (text.empty()) return false;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  out = value;
  return true;
}

parse_error understand_request(const head_parser& head, framing& out) noexcept {
  out = {};
  const seen_fields seen = look_at(head);
  if (const parse_error error = find_body(seen, head.minor_version(), out); error != parse_error::none) return error;
  if (seen.host.data() == nullptr && head.minor_version() > 0) return parse_error::missing_host;
  if (!is_host(seen.host)) return parse_error::bad_host;
  if (!is_target_for(head.method(), head.target())) return parse_error::bad_target;
  if (seen.host.empty() && seen.host.data() != nullptr && !names_host(head.target())) return parse_error::empty_host;
  out.host = seen.host;
  out.keep_alive = stays_open(seen, head.minor_version());
  if (!seen.expect.empty() && head.minor_version() > 0) {  // an HTTP/1.0 client means nothing by it
    if (!equal_ignoring_case(seen.expect, "100-continue")) return parse_error::unknown_expectation;
    out.expects_continue = out.body != body_kind::none;
  }
  if (seen.connection_upgrade && head.minor_version() > 0) {
    out.upgrade = seen.upgrade;
    out.several_upgrades = seen.several_upgrades;
  }
  return parse_error::none;
}

parse_error understand_response(const head_parser& head, std::string_view request_method, framing& out) noexcept {
  out = {};
  const seen_fields seen = look_at(head);
  const int status = head.status();
  const bool tunnel = request_method == "CONNECT" && status >= 200 && status < 300;
  const bool bodyless = request_method == "HEAD" || status < 200 || status == 204 || status == 304 || tunnel;
  const parse_error error = find_body(seen, head.minor_version(), out);
  out.keep_alive = stays_open(seen, head.minor_version());
  if (status == 101 && seen.connection_upgrade) {
    out.upgrade = seen.upgrade;
    out.several_upgrades = seen.several_upgrades;
  }
  if (bodyless && error != parse_error::length_and_encoding) {
    out.body = body_kind::none;
    return seen.error == parse_error::none ? parse_error::none : error;
  }
  if (error != parse_error::none) return error;
  if (!seen.has_encoding && seen.length.data() == nullptr) {
    out.body = body_kind::until_end;
    out.keep_alive = false;
  }
  return parse_error::none;
}

}  // namespace gyre::http
