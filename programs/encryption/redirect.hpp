// programs/encryption/redirect.hpp: leads clients from HTTP to HTTPS.
#pragma once

#include <gyre/http/server.hpp>

#include <string>
#include <string_view>

namespace programs {

/// The options of a server at `listen` that answers every request with 308 and the address of the same resource at the
/// HTTPS server, which listens at `where`: "0.0.0.0:8443". The host is the one that the client has asked for.
/// The server runs beside the other one, and does not observe requests to stop.
[[nodiscard]] gyre::http::server_options redirect_options(std::string listen, std::string_view where);

}  // namespace programs
