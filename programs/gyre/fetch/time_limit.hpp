// programs/gyre/fetch/time_limit.hpp: the time for one URL.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/loop/deadline.hpp>

#include <chrono>
#include <string_view>

namespace programs {

/// The time for all requests and writes of a URL together. The client keeps it for a request, and does not know of the
/// writes.
class time_limit {
 public:
  /// Begins now. nanoseconds::max(): no limit.
  explicit time_limit(std::chrono::nanoseconds length) noexcept : length_(length), began_(gyre::now()) {}

  [[nodiscard]] bool is_set() const noexcept { return length_ != std::chrono::nanoseconds::max(); }
  /// 0 or less: it has passed.
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept {
    return is_set() ? length_ - (gyre::now() - began_) : length_;
  }

  /// Awaits `call`, which may wait for the reader of a pipe.
  ///
  /// Lifetime: `output`, and *this, until the await returns.
  /// Cancel: reaches the call. Errors: timed_out, "write FILE: timed out after 2 s"; those of the call.
  gyre::task<> cover(gyre::task<> call, std::string_view output) const;

 private:
  std::chrono::nanoseconds length_;
  gyre::time_point began_;
};

}  // namespace programs
