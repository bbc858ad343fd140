// programs/gyre/serve/serve.hpp: serves a directory over HTTP.
#pragma once

#include "programs/gyre/serve/settings.hpp"

namespace programs {

/// Serves until SIGINT or SIGTERM, then drains. Returns the exit code: 0; 1 after an error, which is printed to
/// standard error; 130 or 143 after a second signal.
int serve(const serve_settings& settings);

}  // namespace programs
