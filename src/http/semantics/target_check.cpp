// src/http/semantics/target_check.cpp: the forms of a target, and the host that goes with each.
#include "target_check.hpp"

#include <gyre/http/field.hpp>

#include "host.hpp"

namespace gyre::http {
namespace {

// origin-form, absolute-form, authority-form or asterisk-form, depending on the method: RFC 9112 §3.2.
bool is_target_for(std::string_view method, std::string_view target) noexcept {
  if (method == "CONNECT") return is_tunnel_target(target);
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

// True for the absolute form and the form of CONNECT; the Host field is then ignored: RFC 9112 §3.2.2.
// `target` must satisfy is_target_for.
bool names_host(std::string_view target) noexcept { return target.front() != '/' && target != "*"; }

}  // namespace

parse_error check_target(std::string_view method, std::string_view target, std::string_view host,
                         bool needs_host) noexcept {
  if (host.data() == nullptr && needs_host) return parse_error::missing_host;
  if (!is_host(host)) return parse_error::bad_host;
  if (!is_target_for(method, target)) return parse_error::bad_target;
  if (host.empty() && host.data() != nullptr && !names_host(target)) return parse_error::empty_host;
  return parse_error::none;
}

}  // namespace gyre::http
