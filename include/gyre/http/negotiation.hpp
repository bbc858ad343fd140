// gyre/http/negotiation.hpp: chooses the coding or type that the client prefers. RFC 9110 §12.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace gyre::http {

/// "0.5" is 500. RFC 9110 §12.4.2. Also accepts ".5", which old Java versions send with every request.
/// Units: thousandths, 0 to 1000.
[[nodiscard]] GYRE_API std::optional<int> parse_weight(std::string_view text) noexcept;

/// Chooses the content coding in `offered`, such as "br" or "gzip", that the Accept-Encoding fields of a request
/// prefer. Among equals the first one wins. Returns "identity", which means no coding, when the fields prefer it or
/// accept none of the others, and when there is no such field. Returns an empty string when not even that is
/// acceptable: answer 406, or use "identity" anyway. RFC 9110 §12.5.3.
/// A response that depends on this has "Vary: Accept-Encoding".
[[nodiscard]] GYRE_API std::string_view choose_coding(std::span<const field> fields,
                                                      std::span<const std::string_view> offered) noexcept;

/// Chooses the media type in `offered`, such as "text/html; charset=utf-8", that the Accept fields of a request prefer.
/// Among equals, and without such a field, the first one wins. Returns an empty string when none is acceptable: answer
/// 406, or use the first anyway. RFC 9110 §12.5.1. A response that depends on this has "Vary: Accept".
[[nodiscard]] GYRE_API std::string_view choose_media_type(std::span<const field> fields,
                                                          std::span<const std::string_view> offered) noexcept;

}  // namespace gyre::http
