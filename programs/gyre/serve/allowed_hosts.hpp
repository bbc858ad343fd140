// programs/gyre/serve/allowed_hosts.hpp: the host names under which a server answers.
#pragma once

#include <gyre/http/handler.hpp>
#include <gyre/http/router.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace programs {

/// The host names that requests may use.
///
/// A web page can reach servers on loopback by "DNS rebinding": its own name is made to point to 127.0.0.1. For the
/// browser, page and server are then one site, so the page may read and upload files. Addresses and localhost are
/// always allowed, because nobody else can own them.
class allowed_hosts {
 public:
  /// `listen` is the value of the option. Without `names`, only a server on loopback
  /// restricts them. "*" allows every name.
  allowed_hosts(std::string_view listen, const std::vector<std::string>& names);

  /// True if there is a restriction.
  [[nodiscard]] explicit operator bool() const noexcept { return restricted_; }
  /// `host` is the Host of a request, with its port. An empty one is allowed: no browser
  /// sends a request without a host.
  [[nodiscard]] bool allows(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;
  bool restricted_;
};

/// Checks an option value. Returns "" for a name, otherwise an error message.
[[nodiscard]] std::string check_allowed_host(const std::string& text);

/// Serves the routes to requests that name an allowed host. Other requests get 403.
[[nodiscard]] gyre::http::handler only_for(allowed_hosts hosts, gyre::http::router routes);

}  // namespace programs
