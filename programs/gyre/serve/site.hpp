// programs/gyre/serve/site.hpp: the routes of `gyre serve`.
#pragma once

#include "programs/gyre/serve/settings.hpp"

#include <gyre/http/handler.hpp>

namespace programs {

/// What answers the requests of one loop. Errors: as http::static_files; std::invalid_argument for a header of the settings.
[[nodiscard]] gyre::http::handler make_site(const serve_settings& settings);

}  // namespace programs
