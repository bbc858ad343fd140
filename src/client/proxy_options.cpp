// src/client/proxy_options.cpp: which requests go through a proxy.
#include <gyre/client/proxy_options.hpp>

#include <gyre/http/field.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/net/address.hpp>

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

std::optional<url> proxy_in(std::initializer_list<const char*> names) {
  const variable found = first_of(names);
  if (found.name == nullptr) return std::nullopt;
  auto parsed = proxy_options::parse(found.value);
  if (!parsed) throw std::invalid_argument(std::string(found.name) + " in the environment: " + parsed.error());
  return *std::move(parsed);
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

bool is_at_or_below(std::string_view host, std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.empty() || host.size() < name.size()) return false;
  const std::size_t begin = host.size() - name.size();
  return equal_ignoring_case(host.substr(begin), name) && (begin == 0 || host[begin - 1] == '.');
}

}  // namespace

bool is_listed(std::string_view list, const url& target) {
  const std::string_view host = target.host();
  const auto numeric = address::parse(host, 0);
  for (auto each = next_in_list(list); !each.empty(); each = next_in_list(list)) {
    if (each == "*") return true;
    if (numeric) {
      const auto same = address::parse(each, 0);
      if ((same && *same == *numeric) || is_in_network(each, *numeric)) return true;
    }
    const std::size_t colon = each.rfind(':');
    std::string_view name = each;
    if (colon != std::string_view::npos && each.find(':') == colon) {
      if (value_from_text<std::uint16_t>(each.substr(colon + 1)) != target.port()) continue;
      name = each.substr(0, colon);
    }
    if (numeric ? name == host : is_at_or_below(host, name)) return true;
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
  return std::unexpected("proxy \"" + parsed->string() + "\": expected http://, socks5:// or socks5h://");
}

proxy_options proxy_options::from_environment() {
  proxy_options found;
  found.for_http = proxy_in({"http_proxy", "all_proxy", "ALL_PROXY"});
  found.for_https = proxy_in({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  found.except = first_of({"no_proxy", "NO_PROXY"}).value;
  return found;
}

const url* proxy_options::find(const url& target) const {
  const std::optional<url>& chosen = target.scheme() == "https" ? for_https : for_http;
  return !chosen || is_listed(except, target) ? nullptr : &*chosen;
}

}  // namespace gyre::http
