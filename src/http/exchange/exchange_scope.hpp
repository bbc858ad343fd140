// src/http/exchange/exchange_scope.hpp: the scope of a request's handler, and the events that end it early.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/http/server_limits.hpp>
#include <gyre/loop/deadline.hpp>

#include "end_source.hpp"

#include <chrono>

namespace gyre::http {

/// Cancels the code inside when the client leaves or the time limit passes.
///
/// Watching the client starts with the next turn of the loop: a handler that waits for nothing cannot be cancelled
/// anyway, and watching may cost a system call. Most clients that leave are seen to close their sending side, but some
/// do that and stay. They get a grace period.
class exchange_scope : private end_watch, private timer {
 public:
  exchange_scope(task_context& task, end_source& client, const server_timeouts& limits) noexcept
      : client_(client), patience_(limits.half_closed), limit_(time_of(limits.handler)) {
    scope_.open(task);
    end_watch::ended = [](end_watch& w) noexcept { static_cast<exchange_scope&>(w).end_is_seen(); };
    wake_at(0, [](timer& t) noexcept { static_cast<exchange_scope&>(t).begin_to_watch(); });
  }
  exchange_scope& operator=(exchange_scope&&) = delete;
  ~exchange_scope() { close(); }

  /// Ends the scope: it cancels nothing that follows. Idempotent.
  void close() noexcept {
    if (closed_) return;
    ignore_client();
    closed_ = true;
    event_loop::current().timers().disarm(*this);
    scope_.close();
  }
  /// Stops watching the client. From now on only a write can find out that it is gone.
  void ignore_client() noexcept {
    if (closed_) return;
    ignores_client_ = true;
    if (watches_) client_.watch_end(nullptr);
    watches_ = false;
    if (left_at_ != io::wait_forever) wait_for_limit();
    left_at_ = io::wait_forever;
  }

  [[nodiscard]] bool client_left() const noexcept { return client_left_; }
  [[nodiscard]] bool cancelled() const noexcept { return client_left_ || expired_; }
  [[nodiscard]] bool expired() const noexcept { return expired_; }
  /// When the time limit passes, or io::wait_forever.
  [[nodiscard]] io::monotonic_time limit() const noexcept { return limit_; }
  /// While `cancelled` propagates: true if this scope alone caused it.
  [[nodiscard]] bool absorbs_cancel() const noexcept { return scope_.absorbs_cancel(); }

 private:
  static io::monotonic_time time_of(std::chrono::nanoseconds limit) noexcept {
    return limit == std::chrono::nanoseconds::max() ? io::wait_forever : deadline_after(limit);
  }
  void begin_to_watch() noexcept {
    wait_for_limit();
    if (ignores_client_) return;
    watches_ = true;
    client_.watch_end(this);
  }
  void end_is_seen() noexcept {
    watches_ = false;
    if (client_.is_broken()) return end_by(client_left_);
    left_at_ = time_of(patience_);
    if (left_at_ < limit_)
      wake_at(left_at_, [](timer& t) noexcept {
        auto& self = static_cast<exchange_scope&>(t);
        self.end_by(self.client_left_);
      });
  }
  void wait_for_limit() noexcept {
    wake_at(limit_, [](timer& t) noexcept {
      auto& self = static_cast<exchange_scope&>(t);
      self.end_by(self.expired_);
    });
  }
  void wake_at(io::monotonic_time when, void (*then)(timer&) noexcept) noexcept {
    timer_wheel& timers = event_loop::current().timers();
    timers.disarm(*this);
    if (when == io::wait_forever) return;
    fire = then;
    deadline = when;
    timers.arm(*this);
  }
  void end_by(bool& reason) noexcept {
    reason = true;
    scope_.cancel();
  }

  end_source& client_;
  std::chrono::nanoseconds patience_;
  io::monotonic_time limit_;
  io::monotonic_time left_at_ = io::wait_forever;
  cancel_scope scope_;
  bool watches_ = false;
  bool ignores_client_ = false;
  bool client_left_ = false;
  bool expired_ = false;
  bool closed_ = false;
};

}  // namespace gyre::http
