// bench/micro/timing.hpp: how the programs of this folder measure: enough repetitions, the best of three.
#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>

namespace bench {

using clock = std::chrono::steady_clock;

/// Chooses the number of repetitions, and prints "name<TAB>nanoseconds per operation".
class stopwatch {
 public:
  /// A repetition performs so many operations.
  explicit stopwatch(std::string_view name, long operations = 1) noexcept
      : name_(name), operations_(operations), repetitions_(operations < 100 ? 100 : 1) {}
  ~stopwatch() {
    const double one = best_ / static_cast<double>(operations_);
    std::printf("%.*s\t%.2f\n", static_cast<int>(name_.size()), name_.data(), one);
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

  [[nodiscard]] long repetitions() const noexcept { return repetitions_; }
  void start() noexcept { start_ = clock::now(); }
  /// Returns false when the result is precise enough.
  [[nodiscard]] bool again() noexcept {
    const double took = std::chrono::duration<double, std::nano>(clock::now() - start_).count();
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
  long operations_;
  long repetitions_;
  int rounds_ = 0;
  double best_ = 0;
  clock::time_point start_;
};

/// Measures a plain function: `body(n)` does n repetitions, of so many operations each.
template <class Body>
void measure(std::string_view name, Body body, long operations = 1) {
  stopwatch watch(name, operations);
  do {
    watch.start();
    body(watch.repetitions());
  } while (watch.again());
}

/// Makes the compiler compute a value that nothing uses.
template <class T>
void keep(const T& value) noexcept {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace bench
