// src/client/cookie_jar.cpp: which cookies are kept, and which are sent. RFC 6265bis §5.
#include <gyre/client/cookie_jar.hpp>

#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/net/address.hpp>

#include "cookie_date.hpp"
#include "public_suffix.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t max_of_domain = 180;
constexpr std::size_t max_cookies = 3000;
constexpr std::size_t max_cookie_size = 4096;  // name and value
constexpr std::size_t max_attribute_size = 1024;
constexpr unix_seconds max_lifetime = 400LL * 86'400;
constexpr unix_seconds for_ever = unix_seconds{1} << 60U;  // until the jar is destroyed

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& each : out) each = to_lower(each);
  return out;
}

bool begins_with(std::string_view text, std::string_view prefix) noexcept {
  return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// "com." is as public as "com", and "127.0.0.1." is an address. But the hosts "a.test" and "a.test." are two: their
// cookies are apart, as in browsers.
std::string_view without_last_dots(std::string_view name) noexcept {
  return name.substr(0, name.find_last_not_of('.') + 1);
}

bool is_address(std::string_view host) { return address::parse(without_last_dots(host), 0).has_value(); }

bool domain_matches(std::string_view host, std::string_view domain) {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.' &&
         !is_address(host);
}

bool path_matches(std::string_view path, std::string_view of_cookie) noexcept {
  return path.starts_with(of_cookie) &&
         (path.size() == of_cookie.size() || of_cookie.ends_with('/') || path[of_cookie.size()] == '/');
}

std::string_view default_path(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

std::string reversed(std::string_view domain) { return {domain.rbegin(), domain.rend()}; }

// Calls `f` for the cookies of a host and of each domain above it, until it returns true. Returns whether it did.
template <class Domains, class F>
bool for_each_above(Domains& domains, std::string_view host, const F& f) {
  const std::string key = reversed(host);
  for (std::size_t end = 1; end <= key.size(); ++end) {
    if (end < key.size() && key[end] != '.') continue;
    const auto found = domains.find(std::string_view(key).substr(0, end));
    if (found != domains.end() && f(found->second)) return true;
  }
  return false;
}

// An amount beyond 64 bits counts as the largest.
std::optional<unix_seconds> parse_age(std::string_view text) noexcept {
  unix_seconds age = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), age);
  if (end != text.data() + text.size() || end == text.data()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return text.front() == '-' ? -1 : max_lifetime;
  return age;
}

}  // namespace

struct [[gnu::visibility("hidden")]] cookie_jar::contents {
  // By the domain from its end ("tset.a"), so that those below a domain follow it. The cookies of one are in order.
  using cookies_by_domain = std::map<std::string, std::vector<stored_cookie>, std::less<>>;

  cookies_by_domain domains;
  std::map<std::uint64_t, std::string> by_age;  // the keys of the domains, by the order of their cookies
  std::uint64_t next_order = 0;

  void set(stored_cookie&& wanted, unix_seconds now);
  void keep(std::string&& key, stored_cookie&& wanted);
  void make_room(std::string_view key);
  void remove(cookies_by_domain::iterator domain, std::vector<stored_cookie>::iterator which) noexcept;
  [[nodiscard]] bool may_store(const stored_cookie& wanted, const url& from) const;
  [[nodiscard]] bool hides_secure_cookie(const stored_cookie& wanted) const;
};

cookie_jar::cookie_jar(const cookie_jar& other)
    : is_public_suffix(other.is_public_suffix), contents_(other.contents_ ? new contents(*other.contents_) : nullptr) {}

void cookie_jar::destroy(contents* all) noexcept { delete all; }

void cookie_jar::store(const url& from, std::string_view set_cookie, unix_seconds now) {
  for (const char c : set_cookie)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return;
  std::size_t end = std::min(set_cookie.find(';'), set_cookie.size());
  const std::string_view pair = set_cookie.substr(0, end);
  const std::size_t equals = pair.find('=');
  stored_cookie wanted;
  wanted.name = equals == std::string_view::npos ? std::string_view() : trim(pair.substr(0, equals));
  wanted.value = trim(equals == std::string_view::npos ? pair : pair.substr(equals + 1));
  if (wanted.name.size() + wanted.value.size() > max_cookie_size || (wanted.name.empty() && wanted.value.empty()))
    return;
  wanted.domain = lower(from.host());
  wanted.path = default_path(from.path());
  wanted.expires = for_ever;

  bool has_age = false;
  bool has_path = false;
  for (std::string_view rest = set_cookie.substr(end); !rest.empty();) {
    rest.remove_prefix(1);
    end = std::min(rest.find(';'), rest.size());
    const std::string_view attribute = rest.substr(0, end);
    rest.remove_prefix(end);
    const std::size_t sign = std::min(attribute.find('='), attribute.size());
    const std::string_view name = trim(attribute.substr(0, sign));
    const std::string_view value = trim(attribute.substr(std::min(sign + 1, attribute.size())));
    if (value.size() > max_attribute_size) continue;
    if (equal_ignoring_case(name, "Max-Age")) {
      const auto age = parse_age(value);
      if (age) wanted.expires = *age <= 0 ? 0 : now + std::min(*age, max_lifetime);
      has_age = has_age || age;
    } else if (equal_ignoring_case(name, "Expires")) {
      const auto date = parse_cookie_date(value);
      if (date && !has_age) wanted.expires = std::min(*date, now + max_lifetime);
    } else if (equal_ignoring_case(name, "Domain")) {
      const std::string domain = lower(value.starts_with('.') ? value.substr(1) : value);
      wanted.host_only = domain.empty();
      wanted.domain = domain.empty() ? lower(from.host()) : domain;
    } else if (equal_ignoring_case(name, "Path")) {
      has_path = value == "/";
      wanted.path = value.starts_with('/') ? value : default_path(from.path());
    } else if (equal_ignoring_case(name, "Secure")) {
      wanted.secure = true;
    } else if (equal_ignoring_case(name, "HttpOnly")) {
      wanted.http_only = true;
    }
  }
  const auto is_suffix = [this](std::string_view domain) {
    domain = without_last_dots(domain);
    return is_public_suffix != nullptr ? is_public_suffix(domain) : is_known_public_suffix(domain);
  };
  if (!wanted.host_only && (wanted.domain == from.host() || is_suffix(wanted.domain))) {
    // The host itself, when it is a public suffix or an address, may have cookies of its own.
    if (wanted.domain != from.host()) return;
    wanted.host_only = is_suffix(wanted.domain) || is_address(wanted.domain);
  }
  if (begins_with(wanted.name, "__Host-") && (!has_path || !wanted.host_only)) return;
  if (!contents_) contents_ = owned<contents*, &destroy>(new contents);
  if (contents_->may_store(wanted, from)) contents_->set(std::move(wanted), now);
}

void cookie_jar::contents::set(stored_cookie&& wanted, unix_seconds now) {
  std::string key = reversed(wanted.domain);
  if (const auto known = domains.find(key); known != domains.end()) {
    const auto same = std::find_if(known->second.begin(), known->second.end(), [&](const stored_cookie& each) {
      return each.name == wanted.name && each.host_only == wanted.host_only && each.path == wanted.path;
    });
    if (same != known->second.end()) {
      wanted.order = same->order;
      if (wanted.expires > now)
        *same = std::move(wanted);
      else
        remove(known, same);
      return;
    }
  }
  if (wanted.expires > now) keep(std::move(key), std::move(wanted));
}

void cookie_jar::contents::keep(std::string&& key, stored_cookie&& wanted) {
  make_room(key);
  wanted.order = next_order++;
  std::vector<stored_cookie>& of_domain = domains[key];
  const auto age = by_age.emplace(wanted.order, std::move(key)).first;
  try {
    of_domain.push_back(std::move(wanted));
  } catch (...) {
    by_age.erase(age);
    throw;
  }
}

void cookie_jar::contents::remove(cookies_by_domain::iterator domain,
                                  std::vector<stored_cookie>::iterator which) noexcept {
  by_age.erase(which->order);
  domain->second.erase(which);
  if (domain->second.empty()) domains.erase(domain);
}

// A page without encryption can be forged on the way, so it neither sets secure cookies nor hides them.
bool cookie_jar::contents::may_store(const stored_cookie& wanted, const url& from) const {
  if (!domain_matches(from.host(), wanted.domain)) return false;
  const bool secure_origin = from.scheme() == "https";
  if (wanted.secure && !secure_origin) return false;
  if ((begins_with(wanted.name, "__Secure-") || begins_with(wanted.name, "__Host-")) && !wanted.secure) return false;
  if (wanted.name.empty() && (begins_with(wanted.value, "__Secure-") || begins_with(wanted.value, "__Host-")))
    return false;
  return secure_origin || !hides_secure_cookie(wanted);
}

bool cookie_jar::contents::hides_secure_cookie(const stored_cookie& wanted) const {
  const auto has_one = [&](const std::vector<stored_cookie>& all) {
    return std::any_of(all.begin(), all.end(), [&](const stored_cookie& each) {
      return each.secure && each.name == wanted.name && path_matches(wanted.path, each.path) &&
             (domain_matches(each.domain, wanted.domain) || domain_matches(wanted.domain, each.domain));
    });
  };
  if (for_each_above(domains, wanted.domain, has_one)) return true;
  const std::string below = reversed(wanted.domain) + '.';
  for (auto each = domains.lower_bound(below); each != domains.end() && each->first.starts_with(below); ++each)
    if (has_one(each->second)) return true;
  return false;
}

void cookie_jar::contents::make_room(std::string_view key) {
  const auto domain = domains.find(key);
  if (domain != domains.end() && domain->second.size() >= max_of_domain) remove(domain, domain->second.begin());
  if (by_age.size() < max_cookies) return;
  const auto oldest = domains.find(by_age.begin()->second);
  remove(oldest, oldest->second.begin());
}

std::vector<stored_cookie> cookie_jar::all() const {
  std::vector<stored_cookie> all;
  if (!contents_) return all;
  for (const auto& [key, cookies] : contents_->domains) all.insert(all.end(), cookies.begin(), cookies.end());
  std::sort(all.begin(), all.end(), [](const stored_cookie& a, const stored_cookie& b) { return a.order < b.order; });
  return all;
}

void cookie_jar::append_for(const url& to, unix_seconds now, std::string& out) const {
  if (!contents_) return;
  std::vector<const stored_cookie*> chosen;
  for_each_above(contents_->domains, to.host(), [&](const std::vector<stored_cookie>& cookies) {
    for (const stored_cookie& each : cookies) {
      if (each.expires <= now || (each.secure && to.scheme() != "https")) continue;
      if (each.host_only ? to.host() != each.domain : !domain_matches(to.host(), each.domain)) continue;
      if (path_matches(to.path(), each.path)) chosen.push_back(&each);
    }
    return false;
  });
  std::sort(chosen.begin(), chosen.end(), [](const stored_cookie* a, const stored_cookie* b) {
    return a->path.size() != b->path.size() ? a->path.size() > b->path.size() : a->order < b->order;
  });
  for (const stored_cookie* const each : chosen) {
    if (!out.empty()) out += "; ";
    if (!each->name.empty()) out.append(each->name).append("=");
    out += each->value;
  }
}

}  // namespace gyre::http
