// src/http/transport/busy_sessions.hpp: the connections of a loop that keep their record buffers.
#pragma once

#include <gyre/io/backend.hpp>
#include <gyre/loop/event_loop.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::http {

/// A session that takes and gives back its record buffers for each request spends a tenth of its processor time on
/// that. So the sessions that are in use keep theirs, up to a number of them, until they have been idle for one to two
/// intervals.
class busy_sessions : private timer {
 public:
  static constexpr io::monotonic_time interval = 1'000'000'000;
  static constexpr std::size_t max_sessions = 256;

  class entry {
   public:
    entry() = default;
    entry& operator=(entry&&) = delete;

   protected:
    ~entry() = default;
    void (*keep_buffers)(entry&, bool keep) noexcept = nullptr;

   private:
    friend class busy_sessions;
    static constexpr std::uint16_t nowhere = 0xffff;
    std::uint16_t place_ = nowhere;
    bool used_ = false;  // since the last look at the sessions
  };

  busy_sessions() noexcept {
    fire = [](timer& t) noexcept { static_cast<busy_sessions&>(t).let_idle_ones_go(); };
  }
  busy_sessions& operator=(busy_sessions&&) = delete;
  ~busy_sessions() = default;

  /// A request has come.
  void note_use(entry& session) noexcept {
    session.used_ = true;
    if (session.place_ == entry::nowhere && count_ < max_sessions) add(session);
  }
  /// The session ends. No-op when it keeps no buffers.
  void remove(entry& ended) noexcept {
    if (ended.place_ == entry::nowhere) return;
    entry& last = *sessions_[--count_];
    sessions_[ended.place_] = &last;
    last.place_ = ended.place_;
    ended.place_ = entry::nowhere;
    if (count_ == 0) event_loop::current().timers().disarm(*this);
  }

 private:
  void add(entry& session) noexcept {
    if (count_ == 0) look_again();
    session.place_ = static_cast<std::uint16_t>(count_);
    sessions_[count_++] = &session;
    session.keep_buffers(session, true);
  }
  void look_again() noexcept {
    event_loop& loop = event_loop::current();
    deadline = loop.recent() + interval;
    loop.timers().arm(*this);
  }
  void let_idle_ones_go() noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      entry& session = *sessions_[i];
      if (std::exchange(session.used_, false)) continue;
      remove(session);
      session.keep_buffers(session, false);
    }
    if (count_ > 0) look_again();
  }

  std::array<entry*, max_sessions> sessions_;  // the first `count_`
  std::size_t count_ = 0;
};

}  // namespace gyre::http
