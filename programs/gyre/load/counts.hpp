// programs/gyre/load/counts.hpp: what a load has measured.
#pragma once

#include "programs/gyre/load/latency_histogram.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace programs {

struct load_counts {
  latency_histogram latencies;  // of complete responses
  std::map<int, std::uint64_t> statuses;
  std::map<std::string, std::uint64_t> errors;
  std::uint64_t unfinished = 0;  // requests that had no response when the time was over
  std::chrono::nanoseconds max_unfinished{0};
  std::uint64_t connections = 0;  // made
  std::uint64_t received = 0;     // bytes, without those of TLS

  void add(const load_counts& other);
  void add_unfinished(std::chrono::nanoseconds waited) noexcept;
  [[nodiscard]] std::uint64_t failed() const noexcept;
};

}  // namespace programs
