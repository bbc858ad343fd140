// gyre/http/media_type.hpp: what kind of content a file has, and what a Content-Type says. RFC 9110 §8.3.
#pragma once

#include <gyre/attributes.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// By the extension of a file's name or path, whatever its case: "text/html; charset=utf-8" for "a/index.html". Of text
/// the encoding is taken to be UTF-8. "application/octet-stream" when the extension is unknown, or when there is none, as
/// in ".profile".
[[nodiscard]] GYRE_API std::string_view media_type_of(std::string_view file_name) noexcept;

/// Whether content of this type becomes smaller when it is compressed: text and its like, not pictures and archives.
[[nodiscard]] GYRE_API bool is_compressible(std::string_view content_type) noexcept;

/// "text/html" of "text/html; charset=utf-8": without its parameters. Empty when there are no two tokens.
/// Lifetime: lies where the value does.
[[nodiscard]] GYRE_API std::string_view essence_of(std::string_view content_type) noexcept;

/// What a parameter such as "boundary" or "charset" means, without the quotes and backslashes that it is sent with. Nothing
/// when it is missing, when it comes twice, or when any parameter is malformed. For Content-Disposition, too.
[[nodiscard]] GYRE_API std::optional<std::string> find_parameter(std::string_view content_type, std::string_view name);

}  // namespace gyre::http
