// src/client/phase_clock.hpp: the time limits of a request.
#pragma once

#include <gyre/loop/event_loop.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "channel.hpp"

namespace gyre::http {

enum class phase : std::uint8_t { queue, connect, tls, sending, first_byte, body, backoff };

/// Interrupts a channel when the limit of a phase has passed, and goes on with that until the phase ends. The timer
/// stays armed between phases, and postpones itself when it fires too early. So a phase costs only a few stores.
class phase_clock : private timer {
 public:
  /// Lifetime: `interrupted` outlives this.
  explicit phase_clock(channel& interrupted) noexcept : channel_(interrupted) {
    fire = [](timer& t) noexcept { static_cast<phase_clock&>(t).look(); };
  }
  phase_clock& operator=(phase_clock&&) = delete;
  ~phase_clock() {
    if (armed()) event_loop::current().timers().disarm(*this);
  }

  /// For all phases together.
  void set_total(std::chrono::nanoseconds limit) noexcept {
    total_ = limit;
    total_until_ = after(event_loop::current().recent(), limit);
  }
  /// The time that is left, for all phases together.
  [[nodiscard]] std::chrono::nanoseconds left() const noexcept { return clamped(std::chrono::nanoseconds::max()); }
  /// The time of a phase with this limit: the limit, or less when the total ends before.
  [[nodiscard]] std::chrono::nanoseconds clamped(std::chrono::nanoseconds limit) const noexcept {
    if (total_until_ == io::wait_forever) return limit;
    const io::monotonic_time left = total_until_ - event_loop::current().now();
    return std::min(limit, std::chrono::nanoseconds(std::max<io::monotonic_time>(left, 0)));
  }

  void begin(phase now_in, std::chrono::nanoseconds limit) noexcept {
    event_loop& loop = event_loop::current();
    const io::monotonic_time now = loop.recent();
    phase_ = now_in;
    limit_ = limit;
    runs_ = true;
    wanted_ = std::min(after(now, limit), total_until_);
    expired_ = wanted_ <= now;
    renews_ = false;
    arm(loop);  // also one that has expired already: another task may wait for the connection
  }
  /// A phase that only the total limits.
  void begin_unlimited(phase now_in) noexcept { begin(now_in, std::chrono::nanoseconds::max()); }
  /// The limit of the phase begins anew while the server takes what is written: it is one of progress.
  void renew_with_progress() noexcept { renews_ = true; }
  /// Until resume(), only the total limits the phase.
  void pause() noexcept {
    left_ = wanted_ - event_loop::current().recent();
    wanted_ = total_until_;
  }
  void resume() noexcept {
    event_loop& loop = event_loop::current();
    const io::monotonic_time now = loop.now();
    wanted_ = std::min(after(now, std::chrono::nanoseconds(std::max<io::monotonic_time>(left_, 0))), total_until_);
    arm(loop);
  }
  void end() noexcept { runs_ = false; }
  /// True when the phase was too long. It remains so until the next one begins.
  [[nodiscard]] bool expired() const noexcept { return expired_; }

  /// The phase that began last, and its limit.
  [[nodiscard]] phase current() const noexcept { return phase_; }
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept { return limit_; }
  [[nodiscard]] bool is_limited() const noexcept { return limit_ != std::chrono::nanoseconds::max(); }
  /// True when the total is over.
  [[nodiscard]] bool is_total_over() const noexcept {
    return total_until_ != io::wait_forever && event_loop::current().now() >= total_until_;
  }
  [[nodiscard]] std::chrono::nanoseconds total() const noexcept { return total_; }

 private:
  void arm(event_loop& loop) noexcept {
    if (wanted_ == io::wait_forever || (armed() && deadline <= wanted_)) return;
    loop.timers().disarm(*this);
    deadline = wanted_;
    loop.timers().arm(*this);
  }
  static io::monotonic_time after(io::monotonic_time now, std::chrono::nanoseconds limit) noexcept {
    return limit == std::chrono::nanoseconds::max()
               ? io::wait_forever
               : now + std::clamp<io::monotonic_time>(limit.count(), 0, io::wait_forever - now);
  }
  void look() noexcept {
    if (!runs_ || wanted_ == io::wait_forever) return;
    event_loop& loop = event_loop::current();
    if (loop.now() < wanted_) {
      deadline = wanted_;
      loop.timers().arm(*this);
      return;
    }
    if (renews_ && !expired_ && !is_total_over() && channel_.has_progressed()) {
      deadline = wanted_ = std::min(after(loop.now(), limit_), total_until_);
      loop.timers().arm(*this);
      return;
    }
    expired_ = true;
    channel_.interrupt();
    // It meets only an operation that waits now, and loses against a success. TLS may then go on to the next one.
    deadline = loop.now() + until_next_interrupt;
    loop.timers().arm(*this);
  }
  static constexpr io::monotonic_time until_next_interrupt = 1'000'000;

  channel& channel_;
  io::monotonic_time wanted_ = 0;
  io::monotonic_time left_ = 0;  // while it is paused
  io::monotonic_time total_until_ = io::wait_forever;
  std::chrono::nanoseconds limit_{0};
  std::chrono::nanoseconds total_{0};
  phase phase_ = phase::queue;
  bool runs_ = false;  // a phase has begun, and has not ended
  bool expired_ = false;
  bool renews_ = false;
};

}  // namespace gyre::http
