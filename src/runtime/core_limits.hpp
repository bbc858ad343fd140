// src/runtime/core_limits.hpp: the sources of usable_cores(), which tests replace.
#pragma once

#include <gyre/runtime/usable_cores.hpp>

#include <sched.h>

#include <cstddef>
#include <string>

namespace gyre {

using affinity_call = int (*)(pid_t, std::size_t, cpu_set_t*);  // sched_getaffinity(2)

/// Counts the cores in the affinity mask of the calling thread, on machines of any size. At least 1.
[[nodiscard]] unsigned cores_by_affinity(affinity_call get);

/// usable_cores() with the files below `root`, and with the value of GYRE_THREADS, or null.
[[nodiscard]] core_count count_cores(const std::string& root, affinity_call get, const char* threads);

}  // namespace gyre
