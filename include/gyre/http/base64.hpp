// gyre/http/base64.hpp: bytes as text, for credentials and keys. RFC 4648 §4.
#pragma once

#include <gyre/attributes.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// Strict: requires padding, and allows no white space and no unused bits. Nothing when malformed. Errors:
/// std::bad_alloc.
[[nodiscard]] GYRE_API std::optional<std::string> decode_base64(std::string_view text);
/// With padding. Errors: std::bad_alloc.
[[nodiscard]] GYRE_API std::string encode_base64(std::string_view bytes);

}  // namespace gyre::http
