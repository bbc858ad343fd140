// programs/encryption/redirect.hpp: leads clients from HTTP to HTTPS.
#pragma once

#include <gyre/http/handler.hpp>

#include <string>
#include <string_view>

namespace programs {

/// Answers every request with 308 and the address of the same resource at the HTTPS server, which listens at `where`:
/// "0.0.0.0:8443". The host is the one that the client has asked for.
[[nodiscard]] gyre::http::handler redirect_to_https(std::string_view where);

}  // namespace programs
