// programs/gyre/proxy/forwarded_target.hpp: the target of a request as the server behind a proxy gets it.
#pragma once

#include <string>
#include <string_view>

namespace programs {

/// Returns the target for a server whose URL has this path. Without a path ("/"), the client's path and query stay as
/// they are, byte for byte. Otherwise the path of the server comes first, and dot segments are resolved: they would
/// leave it.
/// Errors: std::invalid_argument for a target that a server could still read so that it leaves the path: "/..%2fa",
/// "/..;/a".
[[nodiscard]] std::string forwarded_target(std::string_view path_of_server, std::string_view target);

}  // namespace programs
