// src/http/server/server_options_check.hpp: refuses options under which no request would ever be answered.
#pragma once

#include <gyre/http/server_options.hpp>

namespace gyre::http {

/// Makes the routes, if the program has given a factory, and returns the options. Errors: std::invalid_argument.
[[nodiscard]] server_options&& checked(server_options&& options);

}  // namespace gyre::http
