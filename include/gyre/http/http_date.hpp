// gyre/http/http_date.hpp: points in time in the HTTP format. RFC 9110 §5.6.7.
#pragma once

#include <gyre/attributes.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http {

/// Units: seconds since 1970-01-01 00:00 UTC.
using unix_seconds = std::int64_t;

/// "Sun, 06 Nov 1994 08:49:37 GMT", always 29 characters. Years are clamped to 0 to 9999.
[[nodiscard]] GYRE_API std::array<char, 29> format_date(unix_seconds when) noexcept;

/// Parses that format and the two obsolete ones, "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994". A
/// two-digit year is at most 50 years after `now`. Nothing for anything else, and for a day that the month does not
/// have.
[[nodiscard]] GYRE_API std::optional<unix_seconds> parse_date(std::string_view text, unix_seconds now) noexcept;

/// Caches the text of the current second, so responses of the same second share it. Thread: one at a time.
class GYRE_API date_cache {
 public:
  /// Lifetime: until the next call.
  [[nodiscard]] std::string_view text(unix_seconds now) noexcept;

 private:
  unix_seconds second_ = -1;
  std::array<char, 29> text_{};
};

}  // namespace gyre::http
