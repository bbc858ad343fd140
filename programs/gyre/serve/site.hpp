// programs/gyre/serve/site.hpp: the routes of `gyre serve`.
#pragma once

#include "programs/gyre/serve/settings.hpp"

#include <gyre/http/handler.hpp>

namespace programs {

/// Creates the handler of one loop's requests. Errors: same as http::static_files; std::invalid_argument for an
/// invalid header in the settings.
[[nodiscard]] gyre::http::handler make_site(const serve_settings& settings);

}  // namespace programs
