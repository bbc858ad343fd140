// programs/resp_server/write_deadline.hpp: ends the writes of a client that does not read.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace resp {

/// Cancels what waits on a stream when the peer has taken less than 64 KiB of a write within the limit. The timer stays armed
/// from one write to the next and finds out when it fires how much later it is wanted now: a write costs a few stores.
///
/// Lifetime: the stream must outlive it and stay where it is.
class write_deadline : private gyre::timer {
 public:
  write_deadline(gyre::tcp_stream& stream, std::chrono::nanoseconds limit) noexcept
      : stream_(stream), limit_(limit.count()) {
    fire = [](gyre::timer& t) noexcept { static_cast<write_deadline&>(t).look(); };
  }
  write_deadline(const write_deadline&) = delete;
  write_deadline& operator=(const write_deadline&) = delete;
  ~write_deadline() { gyre::event_loop::current().timers().disarm(*this); }

  /// One write, from its beginning to its end, however it ends.
  class during {
   public:
    explicit during(write_deadline& deadline) noexcept : deadline_(deadline) { deadline.begin(); }
    during(const during&) = delete;
    during& operator=(const during&) = delete;
    ~during() { deadline_.active_ = false; }

   private:
    write_deadline& deadline_;
  };

  /// True once it has ended a write.
  [[nodiscard]] bool expired() const noexcept { return expired_; }

 private:
  static constexpr std::uint64_t enough = std::uint64_t{64} << 10U;

  void begin() noexcept {
    gyre::event_loop& loop = gyre::event_loop::current();
    active_ = true;
    wanted_ = loop.recent() + limit_;
    if (!armed()) arm_at(loop, wanted_);
  }
  void arm_at(gyre::event_loop& loop, gyre::io::monotonic_time when) noexcept {
    deadline = when;
    loop.timers().arm(*this);
  }
  void look() noexcept {
    if (!active_) return;
    gyre::event_loop& loop = gyre::event_loop::current();
    const gyre::io::monotonic_time now = loop.now();
    if (now >= wanted_ && peer_takes_enough()) wanted_ = now + limit_;
    if (now < wanted_) return arm_at(loop, wanted_);
    expired_ = true;
    stream_.cancel();
  }
  bool peer_takes_enough() noexcept {
    const std::uint64_t now = stream_.socket().taken_by_peer();
    return now - std::exchange(taken_, now) >= enough;
  }

  gyre::tcp_stream& stream_;
  gyre::io::monotonic_time limit_;
  gyre::io::monotonic_time wanted_ = 0;
  std::uint64_t taken_ = 0;  // by the peer, since the connection began, when it was last looked at
  bool active_ = false;
  bool expired_ = false;
};

}  // namespace resp
