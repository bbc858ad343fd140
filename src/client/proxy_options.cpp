// src/client/proxy_options.cpp: which requests go through a proxy.
#include <gyre/client/proxy_options.hpp>

#include <gyre/http/field.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/net/address.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

struct variable {
  const char* name = nullptr;  // null when none of them is set
  std::string_view value = {};
};

variable first_of(std::initializer_list<const char*> names) noexcept {
  for (const char* const name : names)
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return {name, value};
  return {};
}

void read_variable(std::initializer_list<const char*> names, std::optional<url>& proxy, std::string& unusable) {
  const variable found = first_of(names);
  if (found.name == nullptr) return;
  auto parsed = proxy_options::parse(found.value);
  if (parsed)
    proxy = *std::move(parsed);
  else
    unusable = std::string(found.name) + " in the environment: " + parsed.error();
}

// "10.0.0.0/8", "fd00::/8"
bool is_in_network(std::string_view network, const address& host) {
  const std::size_t slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const auto base = address::parse(network.substr(0, slash), 0);
  auto bits = value_from_text<unsigned>(network.substr(slash + 1));
  if (!base || !bits || base->is_v4() != host.is_v4()) return false;
  constexpr unsigned before_v4 = 96;
  if (base->is_v4()) *bits += before_v4;
  const auto wanted = base->bytes_v6();
  const auto given = host.bytes_v6();
  if (*bits > wanted.size() * 8) return false;
  for (unsigned bit = 0; bit < *bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
    if (((wanted[bit / 8] ^ given[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// A dot at the end of a name changes nothing but how it is looked up.
std::string_view without_last_dot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

bool is_at_or_below(std::string_view host, std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.empty() || host.size() < name.size()) return false;
  const std::size_t begin = host.size() - name.size();
  return equal_ignoring_case(host.substr(begin), name) && (begin == 0 || host[begin - 1] == '.');
}

// An element such as "name", "name:80", "[::1]:80", "::1" without its port; empty when the port is another one.
std::string_view host_in(std::string_view element, std::uint16_t port) {
  const bool bracketed = element.starts_with('[');
  const std::size_t colon =
      bracketed ? element.find(':', std::min(element.find(']'), element.size())) : element.find(':');
  if (colon == std::string_view::npos || (!bracketed && element.rfind(':') != colon)) return element;
  return value_from_text<std::uint16_t>(element.substr(colon + 1)) == port ? element.substr(0, colon)
                                                                           : std::string_view();
}

bool covers(std::string_view element, const url& target, const address* numeric) {
  if (element == "*") return true;
  std::string_view name = without_last_dot(host_in(element, target.port()));
  if (numeric == nullptr) return is_at_or_below(without_last_dot(target.host()), name);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const auto same = address::parse(name, 0);
  return (same && *same == *numeric) || is_in_network(name, *numeric);
}

}  // namespace

bool is_listed(std::string_view list, const url& target) {
  constexpr std::string_view separators = ", \t";  // as curl and wget read it
  const auto numeric = address::parse(target.host(), 0);
  while (!list.empty()) {
    const std::string_view element = list.substr(0, list.find_first_of(separators));
    list.remove_prefix(std::min(element.size() + 1, list.size()));
    if (!element.empty() && covers(element, target, numeric ? &*numeric : nullptr)) return true;
  }
  return false;
}

std::expected<url, std::string> proxy_options::parse(std::string_view text) {
  std::string whole(text);
  if (text.find("://") == std::string_view::npos) whole.insert(0, "http://");
  auto parsed = url::parse(whole);
  if (!parsed) return parsed;
  for (const std::string_view known : {"http", "socks5", "socks5h"})
    if (parsed->scheme() == known) return parsed;
  return std::unexpected("proxy \"" + std::string(parsed->origin()) + "\": expected http://, socks5:// or socks5h://");
}

proxy_options proxy_options::from_environment() {
  proxy_options found;
  read_variable({"http_proxy", "all_proxy", "ALL_PROXY"}, found.for_http, found.unusable_for_http);
  read_variable({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}, found.for_https, found.unusable_for_https);
  found.except = first_of({"no_proxy", "NO_PROXY"}).value;
  return found;
}

const url* proxy_options::find(const url& target) const {
  const bool secure = target.scheme() == "https";
  const std::optional<url>& chosen = secure ? for_https : for_http;
  const std::string& unusable = secure ? unusable_for_https : unusable_for_http;
  if ((!chosen && unusable.empty()) || is_listed(except, target)) return nullptr;
  if (!chosen) throw std::invalid_argument(unusable);
  return &*chosen;
}

}  // namespace gyre::http
