// programs/gyre/fetch/fetch.hpp: `gyre fetch` gets URLs, like a small curl.
#pragma once

#include "programs/gyre/fetch/settings.hpp"

namespace programs {

/// Returns the exit code: 0, or that of the first URL that failed. See exit_code_of.
[[nodiscard]] int fetch(const fetch_settings& settings);

}  // namespace programs
