// src/client/cookie_date.hpp: the dates of cookies, which servers write in many ways. RFC 6265 §5.1.1.
#pragma once

#include <gyre/http/http_date.hpp>

#include <optional>
#include <string_view>

namespace gyre::http {

/// "Wed, 21-Oct-2015 07:28:00 GMT", "Oct 21 07:28:00 2015". Nothing when the time, the day, the month or the year is
/// missing or impossible.
[[nodiscard]] std::optional<unix_seconds> parse_cookie_date(std::string_view text) noexcept;

}  // namespace gyre::http
