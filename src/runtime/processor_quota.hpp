// src/runtime/processor_quota.hpp: the share of the processors that the control groups of this process leave to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gyre {

struct processor_quota {
  double cores = 0;   // quota / period
  std::string group;  // the directory of the group that has it
};

struct processor_quotas {
  std::optional<processor_quota> tightest;  // of the group of this process and its ancestors
  std::uint64_t throttled = 0;              // the highest nr_throttled of those that have a quota
};

/// Reads the groups of this process, in both versions. `root` is put before every path: empty in programs, the
/// directory of faked files in tests. Files that are missing or make no sense set no quota. Blocks.
[[nodiscard]] processor_quotas read_processor_quotas(const std::string& root);

}  // namespace gyre
