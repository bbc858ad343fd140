// gyre/client/url.hpp: the address of a resource. RFC 3986.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace gyre::http {

/// An absolute URL in its normal form: scheme and host in lower case, no default port, no "." and ".." segments, and a
/// path that begins with "/". Characters that a URL cannot contain (spaces, other scripts) are percent-encoded in the
/// path, the query and the fragment. A percent sign there stays, also one that encodes nothing ("?q=100%").
///
/// Schemes: http, https; and socks5, socks5h for proxies. A user name and a password ("http://ann:secret@host/") are
/// kept apart, and are part of no text below.
/// Copying into a url that was used before allocates nothing when the text fits. Thread: a plain value.
class GYRE_API url {
 public:
  /// Errors: std::invalid_argument, with the sentence of parse().
  explicit url(std::string_view text);

  /// Returns the url, or a sentence: `url "htp://a": the scheme is not http or https`. It shows no user name and no
  /// password.
  [[nodiscard]] static std::expected<url, std::string> parse(std::string_view text);

  /// Resolves a reference such as a Location field: "../b?x", "//host/", "https://other/". RFC 3986 §5.2. The result
  /// has no user name, unless the reference brings one.
  /// Errors: the same as for parse.
  [[nodiscard]] std::expected<url, std::string> resolve(std::string_view reference) const;

  /// "https"
  [[nodiscard]] std::string_view scheme() const noexcept { return part(0, scheme_end_); }
  /// "example.org", "::1": without the brackets.
  [[nodiscard]] std::string_view host() const noexcept;
  /// The port, or the default one of the scheme.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The value of a Host field: "example.org", "example.org:8080", "[::1]:8080".
  [[nodiscard]] std::string_view authority() const noexcept { return part(scheme_end_ + 3, authority_end_); }
  /// "https://example.org:8080": scheme, host and port. RFC 6454 §4.
  [[nodiscard]] std::string_view origin() const noexcept { return part(0, authority_end_); }
  /// "/a/b", percent-encoded.
  [[nodiscard]] std::string_view path() const noexcept { return part(authority_end_, path_end_); }
  /// Without the question mark; empty when there is none.
  [[nodiscard]] std::string_view query() const noexcept {
    return path_end_ == query_end_ ? std::string_view() : part(path_end_ + 1, query_end_);
  }
  /// The target of a request: "/a/b?x=1".
  [[nodiscard]] std::string_view target() const noexcept { return part(authority_end_, query_end_); }
  /// Without the number sign. It stays with the client.
  [[nodiscard]] std::string_view fragment() const noexcept {
    return query_end_ == text_.size() ? std::string_view() : std::string_view(text_).substr(query_end_ + 1);
  }
  /// The whole, without user name and password.
  [[nodiscard]] const std::string& string() const noexcept { return text_; }
  /// The same without the fragment.
  [[nodiscard]] std::string_view without_fragment() const noexcept { return part(0, query_end_); }

  /// Percent-decoded; empty when there is none.
  [[nodiscard]] const std::string& user() const noexcept { return user_; }
  [[nodiscard]] const std::string& password() const noexcept { return password_; }

  /// Appends "name=value" to the query. Both are encoded.
  void add_query(std::string_view name, std::string_view value);

  /// For a redirect within one origin, which keeps them. No-op when this one has its own.
  void take_user_of(const url& other);

  friend bool operator==(const url& a, const url& b) noexcept = default;

 private:
  friend class url_reader;
  url() = default;
  [[nodiscard]] std::string_view part(std::size_t from, std::size_t to) const noexcept {
    return std::string_view(text_).substr(from, to - from);
  }

  std::string text_;
  std::string user_;
  std::string password_;
  std::size_t scheme_end_ = 0;
  std::size_t host_end_ = 0;  // of the host with its brackets
  std::size_t authority_end_ = 0;
  std::size_t path_end_ = 0;
  std::size_t query_end_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace gyre::http
