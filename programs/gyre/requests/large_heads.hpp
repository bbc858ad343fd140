// programs/gyre/requests/large_heads.hpp: the heads of responses that curl accepts.
#pragma once

#include <gyre/http/head_parser.hpp>

#include <cstddef>

namespace programs {

/// Some servers send hundreds of Set-Cookie or Link fields.
inline constexpr gyre::http::head_limits large_heads{.fields = 5000, .size = std::size_t{300} << 10U};

}  // namespace programs
