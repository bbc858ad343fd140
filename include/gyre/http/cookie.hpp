// gyre/http/cookie.hpp: the cookies of a request, and the cookie that a response sets. RFC 6265.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/http_date.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

/// A cookie of a request. Lifetime: points into the field.
struct cookie {
  std::string_view name;
  std::string_view value;  ///< without the quotes around it, if any
  friend bool operator==(const cookie&, const cookie&) noexcept = default;
};

/// Parses a Cookie field: each call removes the next cookie from `rest` and returns it. Nothing at the end. A name is a
/// token, and text without a name is skipped. A value is whatever a browser keeps: also white space, commas, quotes,
/// JSON, and bytes that are not ASCII, but no control characters other than tabs. A semicolon separates cookies even
/// between quotes, so that nobody can hide a cookie in the value of another. Allocates nothing.
[[nodiscard]] GYRE_API std::optional<cookie> next_cookie(std::string_view& rest) noexcept;

/// The value of the first cookie with this name. Browsers send the one with the longest path first. Names are
/// case-sensitive.
/// A cookie does not say who has set it: a neighbouring host may have, unless the name begins with "__Host-".
[[nodiscard]] GYRE_API std::optional<std::string_view> find_cookie(std::string_view value,
                                                                   std::string_view name) noexcept;
/// Searches all Cookie fields of a request. HTTP/2 sends one for each cookie.
[[nodiscard]] GYRE_API std::optional<std::string_view> find_cookie(std::span<const field> fields,
                                                                   std::string_view name) noexcept;

/// All cookies in all Cookie fields of a request, in order. Text that is not a cookie-pair is skipped. A name may occur
/// twice. A forward range. Lifetime: the fields outlive it. Allocates nothing.
class cookie_range {
 public:
  class iterator {
   public:
    using value_type = cookie;
    using difference_type = std::ptrdiff_t;
    iterator() noexcept = default;
    explicit iterator(std::span<const field> fields) noexcept : fields_(fields) { ++*this; }
    // NOLINTBEGIN(bugprone-unchecked-optional-access): an iterator that may be dereferenced has one
    [[nodiscard]] cookie operator*() const noexcept { return *current_; }
    [[nodiscard]] const cookie* operator->() const noexcept { return &*current_; }
    // NOLINTEND(bugprone-unchecked-optional-access)
    GYRE_API iterator& operator++() noexcept;
    iterator operator++(int) noexcept {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.position() == b.position(); }

   private:
    [[nodiscard]] const char* position() const noexcept { return current_ ? current_->name.data() : nullptr; }
    std::span<const field> fields_;  // not parsed yet
    std::string_view rest_;          // rest of the value of the field before fields_
    std::optional<cookie> current_;
  };
  explicit cookie_range(std::span<const field> fields) noexcept : fields_(fields) {}
  [[nodiscard]] iterator begin() const noexcept { return iterator(fields_); }
  [[nodiscard]] static iterator end() noexcept { return {}; }

 private:
  std::span<const field> fields_;
};

/// Whether a browser sends the cookie when another site causes the request.
enum class same_site_policy : std::uint8_t {
  unset,   ///< the browser decides, mostly lax
  strict,  ///< never
  lax,     ///< when the user follows a link
  none,    ///< always; requires `secure`
};

/// A cookie to be set. Lifetime: points to memory of its maker.
struct set_cookie {
  std::string_view name;
  std::string_view value = {};
  std::string_view path = {};                ///< empty: the directory of the request's path
  std::string_view domain = {};              ///< empty: this host only; otherwise also the hosts below it
  std::optional<std::int64_t> max_age = {};  ///< in seconds; 0 deletes the cookie
  std::optional<unix_seconds> expires = {};  ///< for clients that do not know max_age
  bool secure = false;                       ///< over TLS only
  bool http_only = false;                    ///< hidden from scripts
  same_site_policy same_site = same_site_policy::unset;
};

/// Formats the value of a Set-Cookie field: "SID=31d4; Path=/; Secure; HttpOnly".
///
/// Errors: std::invalid_argument `cookie "a b": the name is not a token`, for anything that clients would understand
/// differently or would not keep. This includes values with white space, commas, semicolons, quotes or backslashes,
/// paths that do not begin with "/", SameSite=None without Secure, a "__Host-" name with a domain, and a name and value
/// of more than 4096 bytes together.
[[nodiscard]] GYRE_API std::string format_set_cookie(const set_cookie& wanted);

}  // namespace gyre::http
