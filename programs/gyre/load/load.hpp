// programs/gyre/load/load.hpp: `gyre load` measures how a server of HTTP bears a load.
#pragma once

#include "programs/gyre/load/settings.hpp"

namespace programs {

/// Returns the exit code: 0 when every request got a response, 1 when some failed or none was answered.
[[nodiscard]] int load(const load_settings& settings);

}  // namespace programs
