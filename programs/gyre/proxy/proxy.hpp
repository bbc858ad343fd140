// programs/gyre/proxy/proxy.hpp: `gyre proxy` passes requests on to servers behind it.
#pragma once

#include "programs/gyre/proxy/settings.hpp"

namespace programs {

/// Runs until the program is asked to stop. Returns the exit code.
[[nodiscard]] int proxy(const proxy_settings& settings);

}  // namespace programs
