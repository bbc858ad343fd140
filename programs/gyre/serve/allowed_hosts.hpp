// programs/gyre/serve/allowed_hosts.hpp: under which names a server answers.
#pragma once

#include <gyre/http/handler.hpp>
#include <gyre/http/router.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace programs {

/// The hosts that requests may name.
///
/// A page in a browser reaches servers on loopback under a name of its own when it lets that name point to 127.0.0.1 ("DNS
/// rebinding"): for the browser both are one site then, and the page may read and upload files. Addresses and localhost are no
/// names that somebody else could own.
class allowed_hosts {
 public:
  /// `listen` as the option has it. Without `names` only a server on loopback restricts them; "*" allows every name.
  allowed_hosts(std::string_view listen, const std::vector<std::string>& names);

  /// Whether there is a restriction.
  [[nodiscard]] explicit operator bool() const noexcept { return restricted_; }
  /// `host` is that of a request, with its port; empty is allowed: no browser sends a request without a host.
  [[nodiscard]] bool allows(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;
  bool restricted_;
};

/// "" for a name, as an error message otherwise: a check of an option.
[[nodiscard]] std::string check_allowed_host(const std::string& text);

/// The routes, for requests that name an allowed host; others are answered with 403.
[[nodiscard]] gyre::http::handler only_for(allowed_hosts hosts, gyre::http::router routes);

}  // namespace programs
