// src/http/exchange_scope.hpp: the scope of a request's handler: what ends it early.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/net/stream_socket.hpp>

#include "transport.hpp"

#include <chrono>

namespace gyre::http {

/// Cancels the code inside when the client leaves and when the time is over.
///
/// The client is watched from the next turn of the loop on: of who waits for nothing nobody can be told, and watching may cost a
/// system call.
class exchange_scope : private end_watch, private timer {
 public:
  exchange_scope(task_context& task, transport& client, std::chrono::nanoseconds limit) noexcept
      : client_(client), limit_(limit == std::chrono::nanoseconds::max() ? io::wait_forever : deadline_after(limit)) {
    scope_.open(task);
    end_watch::ended = [](end_watch& w) noexcept {
      auto& self = static_cast<exchange_scope&>(w);
      self.client_left_ = true;
      self.scope_.cancel();
    };
    fire = [](timer& t) noexcept { static_cast<exchange_scope&>(t).begin_to_watch(); };
    deadline = 0;
    event_loop::current().timers().arm(*this);
  }
  exchange_scope(const exchange_scope&) = delete;
  exchange_scope& operator=(const exchange_scope&) = delete;
  ~exchange_scope() { close(); }

  /// Ends it: what comes is not cancelled by it. Idempotent.
  void close() noexcept {
    if (closed_) return;
    closed_ = true;
    if (watches_) client_.watch_end(nullptr);
    event_loop::current().timers().disarm(*this);
    scope_.close();
  }

  [[nodiscard]] bool client_left() const noexcept { return client_left_; }
  [[nodiscard]] bool cancelled() const noexcept { return client_left_ || expired_; }
  /// While `cancelled` passes: true when it is this scope's and nobody else's.
  [[nodiscard]] bool absorbs_cancel() const noexcept { return scope_.absorbs_cancel(); }

 private:
  void begin_to_watch() noexcept {
    watches_ = true;
    client_.watch_end(this);
    if (limit_ == io::wait_forever) return;
    fire = [](timer& t) noexcept {
      auto& self = static_cast<exchange_scope&>(t);
      self.expired_ = true;
      self.scope_.cancel();
    };
    deadline = limit_;
    event_loop::current().timers().arm(*this);
  }

  transport& client_;
  io::monotonic_time limit_;
  cancel_scope scope_;
  bool watches_ = false;
  bool client_left_ = false;
  bool expired_ = false;
  bool closed_ = false;
};

}  // namespace gyre::http
