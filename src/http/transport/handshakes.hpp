// src/http/transport/handshakes.hpp: the handshakes in progress of a server on one loop.
#pragma once

#include <gyre/io/completion.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/loop/event_loop.hpp>

#include <cstddef>
#include <utility>

namespace gyre::http {

/// Handshakes cost far more than requests, and anybody may begin one. So only a few steps of them are done in a turn of
/// the loop, and beyond a number of handshakes the oldest one is given up: honest clients need milliseconds.
class handshakes : private io::completion {
 public:
  /// A connection in its handshake.
  class entry {
   public:
    entry() = default;
    entry& operator=(entry&&) = delete;

   protected:
    ~entry() = default;
    void (*step)(entry&) noexcept = nullptr;     // goes on with the handshake
    void (*give_up)(entry&) noexcept = nullptr;  // ends the connection, perhaps later

   private:
    friend class handshakes;
    friend class node_list<entry>;
    entry* previous = nullptr;
    entry* next = nullptr;
    entry* next_ready_ = nullptr;
    bool listed_ = false;
  };

  handshakes() noexcept {
    complete = [](io::completion& c) noexcept { static_cast<handshakes&>(c).run_some(); };
  }

  /// The first bytes of a handshake have come: it counts from now on. `max` is at least 1.
  void add(entry& fresh, std::size_t max) noexcept {
    if (fresh.listed_) return;
    if (count_ >= max) {
      entry& oldest = *in_progress_.first();
      remove(oldest);
      oldest.give_up(oldest);
    }
    fresh.listed_ = true;
    in_progress_.link_last(fresh);
    ++count_;
  }
  /// Removes a finished, failed or abandoned handshake. No-op when not listed.
  void remove(entry& ended) noexcept {
    if (!ended.listed_) return;
    ended.listed_ = false;
    in_progress_.unlink(ended);
    --count_;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// Has `step` called in its turn. It must not end before.
  void wait_for_turn(entry& ready) noexcept {
    ready.next_ready_ = nullptr;
    *(first_ready_ == nullptr ? &first_ready_ : &last_ready_->next_ready_) = &ready;
    last_ready_ = &ready;
    if (std::exchange(scheduled_, true)) return;
    event_loop::current().schedule(*this);
  }

 private:
  static constexpr int max_in_turn = 4;

  void run_some() noexcept {
    for (int i = 0; i < max_in_turn && first_ready_ != nullptr; ++i) {
      entry& next = *first_ready_;
      first_ready_ = next.next_ready_;
      next.step(next);
    }
    scheduled_ = first_ready_ != nullptr;
    if (!scheduled_) return;
    event_loop::current().end_turn();
    event_loop::current().schedule(*this);
  }

  node_list<entry> in_progress_;  // the oldest first
  std::size_t count_ = 0;
  entry* first_ready_ = nullptr;
  entry* last_ready_ = nullptr;
  bool scheduled_ = false;
};

}  // namespace gyre::http
