// gyre/http/negotiation.hpp: which of several codings or types the client likes best. RFC 9110 §12.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace gyre::http {

/// "0.5" is 500. RFC 9110 §12.4.2. The ".5" that old Java sends with every request is taken as well.
/// Units: thousandths, 0 to 1000.
[[nodiscard]] GYRE_API std::optional<int> parse_weight(std::string_view text) noexcept;

/// Which of the content codings in `offered`, such as "br" and "gzip", a request's fields Accept-Encoding like best; of
/// several the first. "identity", which is none, when they like it better or know no other, and without such a field.
/// Empty when even that is not acceptable: 406, or "identity" all the same. RFC 9110 §12.5.3.
/// A response that depends on this has "Vary: Accept-Encoding".
[[nodiscard]] GYRE_API std::string_view choose_coding(std::span<const field> fields,
                                                      std::span<const std::string_view> offered) noexcept;

/// Which of the media types in `offered`, such as "text/html; charset=utf-8", a request's fields Accept like best; of
/// several the first, also without such a field. Empty when none is acceptable: 406, or the first all the same.
/// RFC 9110 §12.5.1. A response that depends on this has "Vary: Accept".
[[nodiscard]] GYRE_API std::string_view choose_media_type(std::span<const field> fields,
                                                          std::span<const std::string_view> offered) noexcept;

}  // namespace gyre::http
