// src/client/channel_slot.hpp: the place of a request among the channels to its origin.
#pragma once

#include <gyre/coro/scope_exit.hpp>

#include "client_state.hpp"

#include <utility>

namespace gyre::http {

/// A user of an origin, which may hold one of its slots. A channel is opened only by a request that holds one.
class channel_slot {
 public:
  explicit channel_slot(client_state& of) noexcept : state_(of) {}
  channel_slot& operator=(channel_slot&&) = delete;
  ~channel_slot() { release(); }

  /// Becomes a user of the origin. Returns whether it has got a slot; otherwise it waits for one.
  [[nodiscard]] bool join(std::string_view name) {
    origin_ = &state_.join(name);
    held_ = origin_->slots.try_acquire();
    return held_;
  }
  /// Waits. Cancel: no slot is taken; the request remains a user.
  task<> wait() {
    const scope_count waits(origin_->waiting);
    co_await origin_->slots.acquire();
    held_ = true;
  }
  /// Gives the slot back, and leaves the origin. Idempotent.
  void release() noexcept {
    if (origin_ == nullptr) return;
    if (std::exchange(held_, false)) origin_->slots.release();
    state_.leave(*std::exchange(origin_, nullptr));
  }
  /// True for a user of an origin.
  [[nodiscard]] explicit operator bool() const noexcept { return origin_ != nullptr; }
  [[nodiscard]] bool is_held() const noexcept { return held_; }
  [[nodiscard]] http::origin& origin() const noexcept { return *origin_; }

 private:
  client_state& state_;
  http::origin* origin_ = nullptr;
  bool held_ = false;
};

}  // namespace gyre::http
