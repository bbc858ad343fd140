// src/http/multipart_part.hpp: what the fields of a multipart body and of its parts say.
#pragma once

#include <gyre/http/multipart_decoder.hpp>

#include <string_view>

namespace gyre::http {

/// 0*69<bchars> bcharsnospace: RFC 2046 §5.1.1.
[[nodiscard]] bool is_boundary(std::string_view text) noexcept;

/// The value of Content-Disposition. False: it is malformed, no form-data, or without a name.
[[nodiscard]] bool parse_disposition(std::string_view value, multipart_part& out);

/// Whether data with this Content-Transfer-Encoding means itself.
[[nodiscard]] bool leaves_data_alone(std::string_view encoding) noexcept;

}  // namespace gyre::http
