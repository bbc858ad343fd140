// src/tls/protocol_list.hpp: the names of protocols as ALPN sends them. RFC 7301 §3.1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre::tls {

/// Each name with its length before it. Errors: tls_error bad_configuration for a name without 1 to 255 bytes.
[[nodiscard]] std::string in_wire_format(const std::vector<std::string>& protocols);

/// The reverse, for the result of in_wire_format.
[[nodiscard]] std::vector<std::string> from_wire_format(std::string_view protocols);

}  // namespace gyre::tls
