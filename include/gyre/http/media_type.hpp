// gyre/http/media_type.hpp: the media type of a file, and the parts of a Content-Type. RFC 9110 §8.3.
#pragma once

#include <gyre/attributes.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// The media type for the extension of a file name or path, ignoring case: "text/html; charset=utf-8" for
/// "a/index.html". Assumes that text is UTF-8. Returns "application/octet-stream" when the extension is unknown or
/// missing, as in ".profile".
[[nodiscard]] GYRE_API std::string_view media_type_of(std::string_view file_name) noexcept;

/// Whether compression makes content of this type smaller: true for text and the like, false for pictures and archives.
[[nodiscard]] GYRE_API bool is_compressible(std::string_view content_type) noexcept;

/// The type without its parameters: "text/html" for "text/html; charset=utf-8". Empty when there are no two tokens.
/// Lifetime: points into the argument.
[[nodiscard]] GYRE_API std::string_view essence_of(std::string_view content_type) noexcept;

/// The value of a parameter such as "boundary" or "charset", without the quotes and backslashes it was sent with.
/// Nothing when the parameter is missing or occurs twice, or when any parameter is malformed. Works for
/// Content-Disposition, too.
[[nodiscard]] GYRE_API std::optional<std::string> find_parameter(std::string_view content_type, std::string_view name);

}  // namespace gyre::http
