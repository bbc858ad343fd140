// programs/common/usable_cores.hpp: how many cores this process may use.
#pragma once

namespace programs {

/// The least of the affinity mask and the processor quota of the container (cgroup v2), at least 1.
[[nodiscard]] unsigned usable_cores();

}  // namespace programs
