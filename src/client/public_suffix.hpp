// src/client/public_suffix.hpp: the domains for which no host may set cookies.
#pragma once

#include <string_view>

namespace gyre::http {

/// True for a domain under which strangers register names: "com", "co.uk". Without libpsl, true only for domains
/// without a dot. `domain` is in lower case, without a dot at its end.
[[nodiscard]] bool is_known_public_suffix(std::string_view domain);

}  // namespace gyre::http
