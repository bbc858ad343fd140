// programs/gyre/load/latency_histogram.hpp: counts latencies with a relative error below 1 %, in constant memory.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace programs {

/// Buckets of equal width within each power of two, as in HdrHistogram. From 1 ns to about 19 hours; more counts as the
/// longest.
class latency_histogram {
 public:
  void add(std::chrono::nanoseconds latency) noexcept {
    const auto value = latency.count() > 0 ? static_cast<std::uint64_t>(latency.count()) : 0;
    ++counts_[index_of(value)];
    ++count_;
    sum_ += static_cast<double>(value);
    if (value > max_) max_ = value;
    if (value < min_) min_ = value;
  }
  void add(const latency_histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The latency that a share of all do not exceed: 0.99 is the 99th percentile. 0 when there are none.
  [[nodiscard]] std::chrono::nanoseconds percentile(double share) const noexcept;
  [[nodiscard]] std::chrono::nanoseconds mean() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds longest() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept;

 private:
  static constexpr unsigned bits = 7;  // 128 buckets in each power of two
  static constexpr std::uint64_t width = std::uint64_t{1} << bits;
  static constexpr unsigned powers = 46 - bits;
  static constexpr std::size_t buckets = (powers + 1) * width;

  // Values below `width` have a bucket each. Above, the first `bits` bits after the leading one pick the bucket.
  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < width) return value;
    const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1 - bits;
    if (power >= powers) return buckets - 1;
    return (power + 1) * width + ((value >> power) - width);
  }
  static constexpr std::uint64_t highest_in(std::size_t index) noexcept {
    if (index < width) return index;
    const std::size_t power = index / width - 1;
    return ((width + index % width + 1) << power) - 1;
  }

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  double sum_ = 0;
};

}  // namespace programs
