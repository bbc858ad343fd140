// programs/gyre/serve/traffic.hpp: counts answers for all threads, in the format of Prometheus.
#pragma once

#include <gyre/http/server.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace programs {

/// Thread: any. Each thread writes to its own memory.
class traffic {
 public:
  void count(int status, std::uint64_t body_bytes, std::chrono::nanoseconds duration) noexcept;

  /// Adds the counts of another object.
  void add(const traffic& other) noexcept;
  /// The text format of Prometheus, version 0.0.4.
  [[nodiscard]] std::string text() const;

  static constexpr std::array<double, 12> bounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                    0.01,   0.05,    0.1,    0.5,   1,      5};  // seconds

 private:
  static constexpr int lowest = 100;
  static constexpr std::size_t statuses = 500;  // 100 to 599; others count as 599
  using counter = std::atomic<std::uint64_t>;
  std::array<counter, statuses> by_status_{};
  std::array<counter, bounds.size() + 1> by_duration_{};
  counter nanoseconds_{0};
  counter bytes_{0};
};

/// The process's memory, descriptors and processor time, in the same format.
[[nodiscard]] std::string process_metrics(std::uint64_t open_descriptors);

/// The number of open descriptors as counted by the kernel, without listing them. 0 where the kernel
/// does not count (before Linux 6.2).
[[nodiscard]] std::uint64_t counted_descriptors() noexcept;
/// Lists and counts the descriptors. Slow when there are many, so call it on a thread.
[[nodiscard]] std::uint64_t count_descriptors();

}  // namespace programs
