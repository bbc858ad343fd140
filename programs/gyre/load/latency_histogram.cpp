// programs/gyre/load/latency_histogram.cpp: percentiles.
#include "programs/gyre/load/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace programs {

void latency_histogram::add(const latency_histogram& other) noexcept {
  for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
  min_ = std::min(min_, other.min_);
}

std::chrono::nanoseconds latency_histogram::percentile(double share) const noexcept {
  if (count_ == 0) return {};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    seen += counts_[i];
    if (seen >= std::max<std::uint64_t>(wanted, 1))
      return std::chrono::nanoseconds(std::clamp(highest_in(i), min_, max_));
  }
  return longest();
}

std::chrono::nanoseconds latency_histogram::mean() const noexcept {
  return std::chrono::nanoseconds(count_ == 0 ? 0 : std::llround(sum_ / static_cast<double>(count_)));
}

std::chrono::nanoseconds latency_histogram::longest() const noexcept { return std::chrono::nanoseconds(max_); }

std::chrono::nanoseconds latency_histogram::shortest() const noexcept {
  return std::chrono::nanoseconds(count_ == 0 ? 0 : min_);
}

}  // namespace programs
