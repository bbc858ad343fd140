// gyre/http/http_date.hpp: points of time as HTTP writes them. RFC 9110 §5.6.7.
#pragma once

#include <gyre/attributes.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http {

/// Units: seconds since 1970-01-01 00:00 UTC.
using unix_seconds = std::int64_t;

/// "Sun, 06 Nov 1994 08:49:37 GMT", always 29 characters. Years 0 to 9999; others become the nearest of these.
[[nodiscard]] GYRE_API std::array<char, 29> format_date(unix_seconds when) noexcept;

/// Reads that form and the two obsolete ones, "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994". A year of two
/// digits is at most 50 years after `now`. Nothing for anything else, and for a day that the month does not have.
[[nodiscard]] GYRE_API std::optional<unix_seconds> parse_date(std::string_view text, unix_seconds now) noexcept;

/// Keeps the text of the present second: responses of the same second share it. Thread: one at a time.
class GYRE_API date_cache {
 public:
  /// Lifetime: until the next call.
  [[nodiscard]] std::string_view text(unix_seconds now) noexcept;

 private:
  unix_seconds second_ = -1;
  std::array<char, 29> text_{};
};

}  // namespace gyre::http
