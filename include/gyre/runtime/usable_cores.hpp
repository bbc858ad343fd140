// gyre/runtime/usable_cores.hpp: how many cores this process may use, and what limits it.
#pragma once

#include <gyre/attributes.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gyre {

/// How usable_cores() found its number. A program can log it at its start; `gyre doctor` prints it.
struct core_count {
  unsigned cores = 1;           ///< The value of usable_cores().
  unsigned by_affinity = 1;     ///< Cores in the affinity mask of the calling thread.
  std::optional<double> quota;  ///< Processor quota of the cgroup, in cores. Empty when there is no quota.
  std::string quota_group;      ///< Directory of the cgroup with that quota: the tightest of all ancestors.
  std::uint64_t throttled = 0;  ///< nr_throttled of the cgroups with a quota: periods in which one was used up.
  std::string limited_by = {};  ///< "the affinity mask", "the quota of DIRECTORY", or "GYRE_THREADS".
};

/// Returns the number of cores that this process may use: how many loops a program should run.
///
/// It is the smaller of the affinity mask and the processor quota (cgroups, both versions), at least 1. A quota of 8.5
/// cores counts as 8, because nine busy threads would be stopped for a part of each period. Every group that contains
/// the process's group counts, too, if it is visible in the mounted file systems. The environment variable
/// GYRE_THREADS, a number from 1 to 1024, takes precedence over both. Empty, or 0, it has no effect.
///
/// The number is valid at the time of the call. Tasks do not move between loops, so the number of loops cannot follow a
/// quota that changes later. A core_count::throttled that grows shows that there are too many.
///
/// Thread: any. It reads files in /proc and /sys, and may block: call it before the loops run. The affinity mask is
/// that of the calling thread, so a loop that is bound to a core (runtime_options::pin) gets 1.
/// Errors: std::invalid_argument when GYRE_THREADS is not such a number. Files that cannot be read set no limit.
[[nodiscard]] GYRE_API unsigned usable_cores();

/// The same, with the reason. Thread, Errors: same as usable_cores().
[[nodiscard]] GYRE_API core_count explain_usable_cores();

}  // namespace gyre
