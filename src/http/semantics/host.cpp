// src/http/semantics/host.cpp: the syntax of a host with an optional port. RFC 3986 §3.2.2, RFC 9110 §7.2.
#include "host.hpp"

#include "characters.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr std::size_t max_port_size = 5;

bool is_hex_digit(char c) noexcept { return hex_value(c) >= 0; }

// Characters of a reg-name or an IPv4 address, except those of an escape.
constexpr std::array<bool, 256> host_characters = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (const char c : std::string_view("-._~!$&'()*+,;=")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// Returns the size of the name or the address that `text` begins with.
std::size_t size_of_registered_name(std::string_view text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    while (at != end && host_characters[static_cast<unsigned char>(*at)]) ++at;
    if (end - at < 3 || *at != '%' || !is_hex_digit(at[1]) || !is_hex_digit(at[2])) break;
    at += 3;
  }
  return static_cast<std::size_t>(at - text.data());
}

bool is_registered_name(std::string_view text) noexcept { return size_of_registered_name(text) == text.size(); }

bool is_ipv6_address(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size()) return false;
  std::copy(text.begin(), text.end(), terminated.begin());
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, terminated.data(), &ignored) == 1;
}

// The text between brackets: an IPv6 address, perhaps with a zone (RFC 6874), or an
// IPvFuture address (RFC 3986 §3.2.2).
bool is_address_literal(std::string_view text) noexcept {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
    const std::string_view version = text.substr(1, dot - 1);
    const std::string_view rest = text.substr(dot + 1);
    return std::all_of(version.begin(), version.end(), is_hex_digit) &&
           std::all_of(rest.begin(), rest.end(),
                       [](char c) { return c == ':' || host_characters[static_cast<unsigned char>(c)]; });
  }
  constexpr std::string_view before_zone = "%25";
  const std::size_t percent = text.find('%');
  if (!is_ipv6_address(text.substr(0, percent))) return false;
  if (percent == std::string_view::npos) return true;
  const std::string_view zone = text.substr(percent);
  return zone.size() > before_zone.size() && zone.starts_with(before_zone) && is_registered_name(zone);
}

constexpr unsigned no_port = 65'536;

// An empty port means the default port of the scheme.
bool parse_port(std::string_view digits, unsigned& out) noexcept {
  out = no_port;
  if (digits.empty()) return true;
  if (digits.size() > max_port_size) return false;
  unsigned value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (value >= no_port) return false;
  out = value;
  return true;
}

bool parse_address_literal(std::string_view host, unsigned& port) noexcept {
  const std::size_t end = host.find(']');
  if (end == std::string_view::npos || !is_address_literal(host.substr(1, end - 1))) return false;
  const std::string_view rest = host.substr(end + 1);
  return rest.empty() || (rest.front() == ':' && parse_port(rest.substr(1), port));
}

// uri-host [ ":" port ]: RFC 9110 §7.2. Empty when the target has no authority. A port without a host is invalid.
bool parse_host(std::string_view host, unsigned& port) noexcept {
  port = no_port;
  if (host.starts_with('[')) return parse_address_literal(host, port);
  const std::size_t end = size_of_registered_name(host);
  if (end == host.size()) return true;
  return end > 0 && host[end] == ':' && parse_port(host.substr(end + 1), port);
}

// Nearly all hosts are letters, digits, hyphens and dots, sometimes with a port, which is valid if it is short.
bool is_usual_or_valid(std::string_view host) noexcept {
  std::size_t colon = host.size();
  while (colon > 0 && is_digit(host[colon - 1])) --colon;
  const std::size_t digits = host.size() - colon;
  const bool has_port = colon > 1 && host[colon - 1] == ':' && digits < max_port_size;
  if (is_usual_host(has_port ? host.substr(0, colon - 1) : host)) return true;
  unsigned ignored = no_port;
  return parse_host(host, ignored);
}

// The last valid host of this thread.
struct known_host {
  std::array<char, 64> text;
  std::size_t size;
};
constinit thread_local known_host last_host{};

}  // namespace

// Most requests to a server name the same host.
bool is_host(std::string_view host) noexcept {
  if (host == std::string_view(last_host.text.data(), last_host.size)) return true;
  if (!is_usual_or_valid(host)) return false;
  if (host.size() > last_host.text.size()) return true;
  std::copy(host.begin(), host.end(), last_host.text.begin());
  last_host.size = host.size();
  return true;
}

// host ":" port, both required: RFC 9110 §9.3.6.
bool is_tunnel_target(std::string_view target) noexcept {
  unsigned port = no_port;
  return parse_host(target, port) && port != no_port && port != 0;
}

}  // namespace gyre::http
