// src/http/semantics/multipart_part.hpp: parses the fields of a multipart body and of its parts.
#pragma once

#include <gyre/http/multipart_decoder.hpp>

#include <string_view>

namespace gyre::http {

/// 0*69<bchars> bcharsnospace: RFC 2046 §5.1.1.
[[nodiscard]] bool is_boundary(std::string_view text) noexcept;

/// Parses the value of Content-Disposition. Returns false when it is malformed, not form-data, or has no name.
[[nodiscard]] bool parse_disposition(std::string_view value, multipart_part& out);

/// True if this Content-Transfer-Encoding leaves data unchanged.
[[nodiscard]] bool leaves_data_alone(std::string_view encoding) noexcept;

}  // namespace gyre::http
