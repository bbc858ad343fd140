// programs/resp_server/write_deadline.hpp: ends the writes of a client that does not read.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace resp {

/// Cancels the operations on a stream when the peer has taken less than 64 KiB of a write within the limit. Checks once
/// per limit while there are writes. So a write costs only a few stores, and a stalled client is noticed after one to
/// two limits. Lifetime: the stream must outlive it and must not move.
class write_deadline : private gyre::timer {
 public:
  write_deadline(gyre::tcp_stream& stream, std::chrono::nanoseconds limit) noexcept
      : stream_(stream), limit_(limit.count()) {
    fire = [](gyre::timer& t) noexcept { static_cast<write_deadline&>(t).look(); };
  }
  write_deadline& operator=(write_deadline&&) = delete;
  ~write_deadline() { gyre::event_loop::current().timers().disarm(*this); }

  /// Covers one write from its beginning to its end, however it ends.
  class during {
   public:
    explicit during(write_deadline& deadline) noexcept : deadline_(deadline) { deadline.begin(); }
    during& operator=(during&&) = delete;
    ~during() { deadline_.active_ = false; }

   private:
    write_deadline& deadline_;
  };

  /// True once it has ended a write.
  [[nodiscard]] bool expired() const noexcept { return expired_; }

 private:
  static constexpr std::uint64_t enough = std::uint64_t{64} << 10U;

  void begin() noexcept {
    active_ = true;
    ++writes_;
    if (!armed()) arm();
  }
  void arm() noexcept {
    gyre::event_loop& loop = gyre::event_loop::current();
    deadline = loop.now() + limit_;
    loop.timers().arm(*this);
  }
  void look() noexcept {
    if (!active_) return;
    const bool same_write = std::exchange(seen_, writes_) == writes_;
    const bool enough_taken = stream_.socket().taken_since(taken_) >= enough;
    if (!same_write || enough_taken) return arm();
    expired_ = true;
    stream_.cancel();
  }

  gyre::tcp_stream& stream_;
  gyre::io::monotonic_time limit_;
  std::uint64_t writes_ = 0;  // begun so far
  std::uint64_t seen_ = 0;    // value at the last check
  std::uint64_t taken_ = 0;   // see socket_state::taken_since()
  bool active_ = false;
  bool expired_ = false;
};

}  // namespace resp
