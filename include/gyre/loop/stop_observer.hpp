// gyre/loop/stop_observer.hpp: notifies servers and the program's main run of a stop request.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/completion.hpp>
#include <gyre/io/node_list.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

class event_loop;
class stop_observers;

/// The stage that the request to end the program has reached.
enum class stop_level : std::uint8_t {
  none,
  requested,  ///< servers drain; code that watches for the request finishes its work
  forced,     ///< everything is cancelled, drains included
};

enum class stop_role : std::uint8_t {
  server,     ///< drains on the request, which then does not cancel the program; after_drain starts at its end
  waiter,     ///< a task waits for the request, which therefore does not cancel the program
  bystander,  ///< receives the levels, and does not affect the program
};

/// Receives the levels, on its own loop.
///
/// Lifetime: must not move or be destroyed between stop_observers::add and remove. Thread: that of its loop.
struct stop_observer {
  /// Called once for each level, possibly inside `add`. Must not resume a task. May remove this observer.
  void (*told)(stop_observer& observer, stop_level level) noexcept = nullptr;
  stop_role role = stop_role::bystander;

  // Kept by stop_observers.
  stop_observer* previous = nullptr;
  stop_observer* next = nullptr;
  stop_level heard = stop_level::none;
  bool listed = false;
};

/// Decides about the program: implemented by the run that handles signals. A process has at most one at a time.
struct stop_authority {
  /// Called on its loop before the observers receive a new level, and when a server has drained. `observed` is true
  /// when a server of the process runs or a task has checked for a stop request. `servers` is the number of servers
  /// that run or drain. Returns the level from now on.
  stop_level (*decide)(stop_authority& authority, stop_level level, bool observed, int servers) noexcept = nullptr;
};

/// The observers of one loop. The level belongs to the process. It only rises until the deciding run has ended or,
/// without such a run, until the last loop has ended.
///
/// Thread: that of its loop, unless a function says otherwise.
class GYRE_API stop_observers {
 public:
  stop_observers() noexcept = default;
  stop_observers& operator=(stop_observers&&) = delete;

  /// Notifies `observer` of the current level, and of each later one.
  void add(stop_observer& observer) noexcept;
  /// No-op for an observer that was not added.
  void remove(stop_observer& observer) noexcept;

  /// Thread: any; signal handlers.
  [[nodiscard]] static stop_level level() noexcept;
  /// From now on a stop request does not cancel the program, because a task checks for it. Thread: any.
  static void note_interest() noexcept;
  /// See gyre::request_stop.
  static void request() noexcept;

  /// Makes `authority` decide, until give_up_authority. There must be no other one.
  void take_authority(stop_authority& authority) noexcept;
  /// Resets the level to `none`. Returns when the loop no longer refers to the authority.
  void give_up_authority() noexcept;
  /// True when a task of this loop waits for a stop request, and a run of the process turns signals into one. Thread:
  /// its loop's.
  [[nodiscard]] bool signals_wake_a_task() const noexcept;

  /// Raises the level, if it is lower, for the authority on this loop. Thread: any; signal handlers.
  void raise_to(stop_level level) noexcept;

 private:
  friend class event_loop;
  friend class node_list<stop_observers>;
  struct bell : io::completion {
    stop_observers* owner = nullptr;
    void on_complete() noexcept { owner->answer(); }
  };

  // For the loop. Its bell is rung only while it is among the loops of the process, or has the authority.
  void join(event_loop& loop) noexcept;
  void leave() noexcept;
  [[nodiscard]] static bool knows(std::uint32_t loop) noexcept;
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void after_fork_in_child() noexcept;

  static void ring_all(const stop_observers* except) noexcept;
  static void reset() noexcept;
  void ring() noexcept;
  void answer() noexcept;
  void decide() noexcept;
  void tell(stop_level level) noexcept;
  void settle() noexcept;
  [[nodiscard]] int& count_of(stop_role role) noexcept { return role == stop_role::server ? servers_ : waiters_; }

  stop_observers* previous = nullptr;  // among the loops of the process
  stop_observers* next = nullptr;
  event_loop* loop_ = nullptr;
  bool joined_ = false;
  // Accessed through std::atomic_ref: <atomic> would add 5,000 lines to every header that includes this one.
  bool rung_ = false;                        // the bell is queued
  stop_level announced_ = stop_level::none;  // to this loop, possibly after the deciding run has ended
  int servers_ = 0;
  int waiters_ = 0;
  std::size_t size_ = 0;
  node_list<stop_observer> list_;
  bell bell_;
};

}  // namespace gyre
