// programs/gyre/serve/allowed_hosts.cpp: distinguishes names from addresses.
#include "programs/gyre/serve/allowed_hosts.hpp"

#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/net/address.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace programs {
namespace {

namespace http = gyre::http;

bool is_loopback(std::string_view listen) {
  const auto where = gyre::address::parse(listen);
  if (!where) return false;  // a Unix socket, which no browser reaches
  const std::string host = where->host();
  return host == "::1" || host.starts_with("127.") || host.starts_with("::ffff:127.");
}

std::string_view without_dot(std::string_view name) noexcept {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

// For a Host that the server has accepted: only an IPv6 address has brackets.
std::string_view without_port(std::string_view host) noexcept {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.rfind(':'));
}

// No DNS name consists of digits and dots: browsers treat such text as an address, or reject it.
bool is_address(std::string_view host) noexcept {
  if (host.empty() || host.front() == '[') return !host.empty();
  return std::all_of(host.begin(), host.end(), [](char c) { return gyre::http::is_digit(c) || c == '.'; });
}

// RFC 6761 §6.3: localhost and the names below it always mean loopback.
bool is_localhost(std::string_view name) noexcept {
  constexpr std::string_view localhost = "localhost";
  if (name.size() < localhost.size()) return false;
  const std::size_t before = name.size() - localhost.size();
  return http::equal_ignoring_case(name.substr(before), localhost) && (before == 0 || name[before - 1] == '.');
}

class guarded : public http::prompt_handler<guarded> {
 public:
  guarded(allowed_hosts hosts, http::router routes) : hosts_(std::move(hosts)), routes_(std::move(routes)) {}

  http::started_response start(http::request& request) {
    if (hosts_.allows(request.host())) return routes_.start(request);
    return refusal(request);
  }

 private:
  static http::response refusal(const http::request& request) {
    const std::string_view name = without_port(request.host());
    return http::response::error(
        403, fmt::format("this server does not answer under the name {}; --allow-host {} allows it", name, name));
  }

  allowed_hosts hosts_;
  http::router routes_;
};

}  // namespace

allowed_hosts::allowed_hosts(std::string_view listen, const std::vector<std::string>& names)
    : restricted_(names.empty() ? is_loopback(listen) : std::find(names.begin(), names.end(), "*") == names.end()) {
  for (const std::string& each : names) names_.emplace_back(without_dot(each));
}

bool allowed_hosts::allows(std::string_view host) const noexcept {
  const std::string_view name = without_dot(without_port(host));
  if (!restricted_ || host.empty() || is_address(name) || is_localhost(name)) return true;
  return std::any_of(names_.begin(), names_.end(),
                     [name](const std::string& each) { return http::equal_ignoring_case(each, name); });
}

std::string check_allowed_host(const std::string& text) {
  constexpr std::string_view of_names = "-.0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (text == "*" || (!text.empty() && text.find_first_not_of(of_names) == std::string::npos)) return {};
  return fmt::format("expected the name of a host without a port, or * for any, got \"{}\"", text);
}

http::handler only_for(allowed_hosts hosts, http::router routes) {
  if (!hosts) return routes;
  return guarded(std::move(hosts), std::move(routes));
}

}  // namespace programs
