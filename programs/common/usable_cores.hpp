// programs/common/usable_cores.hpp: the number of cores that this process may use.
#pragma once

namespace programs {

/// The smaller of the affinity mask and the container's processor quota (cgroup v2), at least 1.
[[nodiscard]] unsigned usable_cores();

}  // namespace programs
