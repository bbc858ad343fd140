// src/http/transport/transfer_deadline.hpp: time limits of the transfers of a connection, which rarely expire.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/net/socket_stream.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace gyre::http {

/// A cancel meets only the operation that waits, and loses against a success. The operations of an encrypted transfer
/// are many. So a limit that has passed is enforced again and again, until the transfer has ended.
inline constexpr io::monotonic_time until_next_cancel = 1'000'000;

/// Cancels the reader of a socket when the limit has passed. The timer stays armed between transfers, and postpones
/// itself when it fires too early. So a transfer costs only a few stores.
class receive_deadline : private timer {
 public:
  explicit receive_deadline(socket_stream& stream) noexcept : stream_(stream) {
    fire = [](timer& t) noexcept { static_cast<receive_deadline&>(t).look(); };
  }
  receive_deadline& operator=(receive_deadline&&) = delete;
  ~receive_deadline() { event_loop::current().timers().disarm(*this); }

  void begin(std::chrono::nanoseconds limit) noexcept {
    expired_ = false;
    if (limit == std::chrono::nanoseconds::max()) return;
    event_loop& loop = event_loop::current();
    const io::monotonic_time now = loop.recent();
    wanted_ = now + std::min<io::monotonic_time>(limit.count(), io::wait_forever - now);
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
    if (loop.now() < wanted_) {
      deadline = wanted_;
      loop.timers().arm(*this);
      return;
    }
    expired_ = true;
    stream_.socket().cancel_reader();
    deadline = loop.now() + until_next_cancel;
    loop.timers().arm(*this);
  }

  socket_stream& stream_;
  io::monotonic_time wanted_ = 0;
  bool active_ = false;
  bool expired_ = false;
};

/// Cancels the writers of a socket when the peer takes less than `enough` bytes within the limit. Only bytes that the
/// peer has acknowledged count: the local kernel takes megabytes at once, and then nothing for a long time. Covers a
/// transfer from its beginning to its end, however it ends.
class send_deadline : private timer {
 public:
  /// `taken` is kept from one transfer of the connection to the next.
  send_deadline(socket_stream& stream, std::chrono::nanoseconds limit, std::uint64_t enough,
                std::uint64_t& taken) noexcept
      : stream_(stream), enough_(enough), taken_(taken) {
    if (limit == std::chrono::nanoseconds::max()) return;
    fire = [](timer& t) noexcept { static_cast<send_deadline&>(t).look(); };
    const io::monotonic_time now = event_loop::current().recent();
    limit_ = std::min<io::monotonic_time>(limit.count(), io::wait_forever - now);
    arm_from(now);
  }
  send_deadline& operator=(send_deadline&&) = delete;
  ~send_deadline() { event_loop::current().timers().disarm(*this); }
  [[nodiscard]] bool expired() const noexcept { return expired_; }

 private:
  void arm_from(io::monotonic_time now) noexcept {
    deadline = now + std::min(limit_, io::wait_forever - now);
    event_loop::current().timers().arm(*this);
  }
  void look() noexcept {
    if (!expired_ && stream_.socket().taken_since(taken_) >= enough_) return arm_from(event_loop::current().now());
    expired_ = true;
    stream_.socket().cancel_writers();
    deadline = event_loop::current().now() + until_next_cancel;
    event_loop::current().timers().arm(*this);
  }

  socket_stream& stream_;
  const std::uint64_t enough_;
  std::uint64_t& taken_;  // see socket_state::taken_since()
  io::monotonic_time limit_ = 0;
  bool expired_ = false;
};

}  // namespace gyre::http
