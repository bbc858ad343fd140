// gyre/client/proxy_options.hpp: through which proxies a client connects.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// A proxy is "http://host:3128", "socks5://host" (this client resolves names) or "socks5h://host" (the proxy does). A
/// user name and a password in its URL are sent to the proxy only. Requests with https go through a tunnel, so the
/// proxy sees no more than the host.
struct GYRE_API proxy_options {
  std::optional<url> for_http = {};
  std::optional<url> for_https = {};
  /// Hosts that are reached directly, separated by commas or spaces: "localhost, .example.org, 10.0.0.0/8,
  /// a.test:8080". A name stands for the hosts below it, too; "*" for all. A dot at the end of a name makes no
  /// difference.
  std::string except = {};
  /// Why there is no proxy though there should be one. Requests that need it fail with this sentence.
  std::string unusable_for_http = {};
  std::string unusable_for_https = {};

  /// Reads a proxy. Its scheme defaults to http: "proxy.test:3128". Returns a sentence when the text is no proxy.
  [[nodiscard]] static std::expected<url, std::string> parse(std::string_view text);

  /// Reads the variables http_proxy, https_proxy, all_proxy and no_proxy of the environment, and all but the first in
  /// capitals, too. (In a CGI program, HTTP_PROXY may come from a client.)
  /// A variable that is no proxy is an error of the requests that would use it: see unusable_for_http.
  [[nodiscard]] static proxy_options from_environment();

  /// The proxy for this URL, or null. Lifetime: same as these options. Errors: std::invalid_argument with the sentence
  /// of unusable_for_http or unusable_for_https.
  [[nodiscard]] const url* find(const url& target) const;
};

/// Whether `list`, in the form of proxy_options::except, contains this host.
[[nodiscard]] GYRE_API bool is_listed(std::string_view list, const url& target);

}  // namespace gyre::http
