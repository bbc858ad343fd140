// bench/clients/outcome.hpp: what a client has done, as JSON for bench/client.py.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace bench {

class outcome {
 public:
  explicit outcome(double seconds)
      : end_(clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds))) {}
  /// Looks at the clock now and then.
  [[nodiscard]] bool over() noexcept { return over_ || ((++looks_ % 64) == 0 && (over_ = clock::now() >= end_)); }
  /// A response with a body of so many bytes.
  void add(std::size_t size) {
    constexpr std::size_t expected = 13;  // "Hello, World!"
    if (size != expected) std::abort();
    ++requests_;
  }
  void print() const {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    std::printf("{\"requests\": %ld, \"seconds\": %f, \"user\": %f, \"system\": %f}\n", requests_,
                std::chrono::duration<double>(clock::now() - begin_).count(), seconds(used.ru_utime),
                seconds(used.ru_stime));
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_ = clock::now();
  clock::time_point end_;
  long requests_ = 0;
  unsigned looks_ = 0;
  bool over_ = false;
};

}  // namespace bench
