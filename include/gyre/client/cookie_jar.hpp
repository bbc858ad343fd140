// gyre/client/cookie_jar.hpp: the cookies that servers have set. RFC 6265bis.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/http/http_date.hpp>

#include <cstddef>
#include <cstdint>
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

/// Keeps at most 180 cookies for a domain and 3,000 in all; the oldest ones go first. A cookie for a public suffix
/// ("com", "co.uk") is refused, unless the host itself has that name. Public suffixes are those in the list of libpsl.
/// A build without libpsl knows only domains without a dot, so a host may set cookies for all of "co.uk" there;
/// `is_public_suffix` can forbid that.
/// Thread: one at a time.
class GYRE_API cookie_jar {
 public:
  cookie_jar() noexcept = default;
  cookie_jar(const cookie_jar& other);
  /// Leaves `other` empty.
  cookie_jar(cookie_jar&& other) noexcept = default;
  cookie_jar& operator=(cookie_jar&& other) noexcept = default;
  cookie_jar& operator=(const cookie_jar& other) { return *this = cookie_jar(other); }
  ~cookie_jar() = default;

  /// Keeps the cookie of a Set-Cookie field in a response from this URL, or removes one that has expired. Text that is
  /// malformed, or that the host may not set, is ignored.
  void store(const url& from, std::string_view set_cookie, unix_seconds now);
  /// Appends the cookies for a request to this URL to `out`: "a=b; c=d".
  void append_for(const url& to, unix_seconds now, std::string& out) const;

  /// Returns all cookies in the order in which they were first set.
  [[nodiscard]] std::vector<stored_cookie> all() const;
  void clear() noexcept { contents_.reset(); }

  /// True for public suffixes: no host may set cookies for them. The domain comes without a dot at its end. Defaults to
  /// null: the list of libpsl, or only domains without a dot.
  bool (*is_public_suffix)(std::string_view domain) = nullptr;

 private:
  struct contents;
  static void destroy(contents* all) noexcept;

  owned<contents*, &destroy> contents_;  // null: empty
};

}  // namespace gyre::http
