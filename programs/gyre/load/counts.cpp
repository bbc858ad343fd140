// programs/gyre/load/counts.cpp: adds up the measurements of several loops.
#include "programs/gyre/load/counts.hpp"

#include <algorithm>

namespace programs {

void load_counts::add(const load_counts& other) {
  latencies.add(other.latencies);
  for (const auto& [status, count] : other.statuses) statuses[status] += count;
  for (const auto& [error, count] : other.errors) errors[error] += count;
  unfinished += other.unfinished;
  max_unfinished = std::max(max_unfinished, other.max_unfinished);
  connections += other.connections;
  received += other.received;
}

void load_counts::add_unfinished(std::chrono::nanoseconds waited) noexcept {
  ++unfinished;
  max_unfinished = std::max(max_unfinished, waited);
}

std::uint64_t load_counts::failed() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [error, count] : errors) sum += count;
  return sum;
}

}  // namespace programs
