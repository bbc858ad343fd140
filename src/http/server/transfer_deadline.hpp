// src/http/server/transfer_deadline.hpp: a time limit that is renewed for each transfer and rarely expires.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/net/socket_stream.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace gyre::http {

/// Interrupts the waits on a socket when the limit has passed. The timer stays armed between transfers, and postpones
/// itself when it fires too early. So a transfer costs only a few stores.
class transfer_deadline : private timer {
 public:
  using cancelling = void (socket_state::*)() noexcept;
  /// `ends` cancels the transfers of one direction.
  transfer_deadline(socket_stream& stream, cancelling ends) noexcept : stream_(stream), ends_(ends) {
    fire = [](timer& t) noexcept { static_cast<transfer_deadline&>(t).look(); };
  }
  transfer_deadline& operator=(transfer_deadline&&) = delete;
  ~transfer_deadline() { event_loop::current().timers().disarm(*this); }

  /// Covers a transfer from its beginning to its end, however it ends.
  class during {
   public:
    during(transfer_deadline& deadline, std::chrono::nanoseconds limit) noexcept : during(deadline, limit, 0) {}
    /// For a write: the limit starts anew whenever the peer takes `enough` bytes within it. Only bytes acknowledged by
    /// the peer count: the local kernel takes megabytes at once, and then nothing for a long time.
    during(transfer_deadline& deadline, std::chrono::nanoseconds limit, std::uint64_t enough) noexcept
        : deadline_(deadline) {
      deadline.begin(limit, enough);
    }
    during& operator=(during&&) = delete;
    ~during() { deadline_.end(); }
    [[nodiscard]] bool expired() const noexcept { return deadline_.expired(); }

   private:
    transfer_deadline& deadline_;
  };

  /// For an operation that is movable until it begins; others use `during`.
  void begin(std::chrono::nanoseconds limit, std::uint64_t enough) noexcept {
    expired_ = false;
    if (limit == std::chrono::nanoseconds::max()) return;
    event_loop& loop = event_loop::current();
    const io::monotonic_time now = loop.recent();
    limit_ = limit.count() < io::wait_forever - now ? limit.count() : io::wait_forever - now;
    enough_ = enough;
    wanted_ = now + limit_;
    active_ = true;
    if (armed() && deadline <= wanted_) return;
    loop.timers().disarm(*this);
    deadline = wanted_;
    loop.timers().arm(*this);
  }
  void end() noexcept { active_ = false; }
  [[nodiscard]] bool expired() const noexcept { return expired_; }

 private:
  void look() noexcept {
    if (!active_) return;
    event_loop& loop = event_loop::current();
    const io::monotonic_time now = loop.now();
    if (now >= wanted_ && enough_ > 0 && peer_takes_enough()) wanted_ = now + limit_;
    if (now < wanted_) {
      deadline = wanted_;
      loop.timers().arm(*this);
      return;
    }
    expired_ = true;
    (stream_.socket().*ends_)();
  }
  bool peer_takes_enough() noexcept {
    const std::uint64_t now = stream_.socket().taken_by_peer();
    const std::uint64_t before = std::exchange(taken_, now);
    return now - (now < before ? 0 : before) >= enough_;  // a smaller count belongs to a later write
  }

  socket_stream& stream_;
  const cancelling ends_;
  io::monotonic_time wanted_ = 0;
  io::monotonic_time limit_ = 0;
  std::uint64_t enough_ = 0;
  std::uint64_t taken_ = 0;  // bytes taken by the peer of all that was written, when last looked at
  bool active_ = false;
  bool expired_ = false;
};

}  // namespace gyre::http
