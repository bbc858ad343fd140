// gyre/client/cookie_jar.hpp: the cookies that servers have set. RFC 6265bis.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>
#include <gyre/http/http_date.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// A cookie with its rules.
struct stored_cookie {
  std::string name;
  std::string value;
  std::string domain;  ///< in lower case, without a dot in front
  std::string path;
  bool host_only = true;  ///< not for the hosts below the domain
  bool secure = false;    ///< for https only
  bool http_only = false;
  unix_seconds expires = 0;
  std::uint64_t order = 0;  ///< the first one that was set has the smallest
};

/// Keeps at most 180 cookies for a domain and 3,000 in all; the oldest ones go first. A cookie for a domain without a
/// dot ("com") is refused, unless the host itself has that name. There is no list of public suffixes, so a host may set
/// cookies for all of "co.uk"; `is_public_suffix` can forbid that.
/// Thread: one at a time.
class GYRE_API cookie_jar {
 public:
  /// Keeps the cookie of a Set-Cookie field in a response from this URL, or removes one that has expired. Text that is
  /// malformed, or that the host may not set, is ignored.
  void store(const url& from, std::string_view set_cookie, unix_seconds now);
  /// Appends the cookies for a request to this URL to `out`: "a=b; c=d".
  void append_for(const url& to, unix_seconds now, std::string& out) const;

  /// Returns all cookies in the order in which they were first set.
  [[nodiscard]] std::vector<stored_cookie> all() const;
  void clear() noexcept;

  /// Whether no host may set cookies for this domain, given without a dot at its end, and those below it. Null means:
  /// domains without a dot.
  bool (*is_public_suffix)(std::string_view domain) = nullptr;

 private:
  // By the domain from its end ("tset.a"), so that those below a domain follow it. The cookies of one are in order.
  using cookies_by_domain = std::map<std::string, std::vector<stored_cookie>, std::less<>>;

  [[nodiscard]] bool may_store(const stored_cookie& wanted, const url& from) const;
  [[nodiscard]] bool hides_secure_cookie(const stored_cookie& wanted) const;
  void keep(std::string&& key, stored_cookie&& wanted);
  void make_room(std::string_view key);
  void remove(cookies_by_domain::iterator domain, std::vector<stored_cookie>::iterator which) noexcept;

  cookies_by_domain domains_;
  std::map<std::uint64_t, std::string> by_age_;  // the keys of the domains, by the order of their cookies
  std::uint64_t next_order_ = 0;
};

}  // namespace gyre::http
