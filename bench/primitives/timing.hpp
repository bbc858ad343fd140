// bench/primitives/timing.hpp: how the programs of this folder measure: enough repetitions, the best of three.
#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>

namespace bench {

using clock = std::chrono::steady_clock;

inline double nanoseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

/// Chooses the number of repetitions, and prints "name<TAB>nanoseconds per repetition".
class stopwatch {
 public:
  explicit stopwatch(std::string_view name) noexcept : name_(name) {}
  ~stopwatch() { std::printf("%.*s\t%.2f\n", static_cast<int>(name_.size()), name_.data(), best_); }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

  [[nodiscard]] long repetitions() const noexcept { return repetitions_; }
  void start() noexcept { start_ = clock::now(); }
  /// Returns false when the result is precise enough.
  [[nodiscard]] bool again() noexcept {
    const double took = nanoseconds_since(start_);
    constexpr double enough = 30e6;
    if (took < enough) {
      repetitions_ *= took < enough / 10 ? 8 : 2;
      return true;
    }
    const double one = took / static_cast<double>(repetitions_);
    if (rounds_++ == 0 || one < best_) best_ = one;
    return rounds_ < 3;
  }

 private:
  std::string_view name_;
  long repetitions_ = 100;
  int rounds_ = 0;
  double best_ = 0;
  clock::time_point start_;
};

}  // namespace bench
