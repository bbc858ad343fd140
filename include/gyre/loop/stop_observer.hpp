// gyre/loop/stop_observer.hpp: how servers, and the run that is the program, hear of a stop request. For authors of servers.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/completion.hpp>
#include <gyre/io/node_list.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

class event_loop;
class stop_observers;

/// How far the end of the program has been asked for.
enum class stop_level : std::uint8_t {
  none,
  requested,  ///< servers drain; code that looks for the request finishes its work
  forced,     ///< everything is cancelled, drains included
};

enum class stop_role : std::uint8_t {
  server,     ///< drains on the request, so that it does not cancel the program; after_drain counts from its end
  waiter,     ///< a task waits for the request, which therefore does not cancel the program
  bystander,  ///< is told of the levels, and changes nothing for the program
};

/// Is told of the levels, on its own loop.
///
/// Lifetime: must neither move nor be destroyed between stop_observers::add and remove. Thread: that of its loop.
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

/// Decides about the program: the run that handles signals. A process has at most one at a time.
struct stop_authority {
  /// Called on its loop before the observers hear of a new level, and when a server has drained. `observed`: a server of the
  /// process runs, or a task has looked for a stop request. `servers`: how many run or drain. Returns the level from now on.
  stop_level (*decide)(stop_authority& authority, stop_level level, bool observed, int servers) noexcept = nullptr;
};

/// The observers of one loop. The level is the process's. It only rises, until the run that decides has ended or, without
/// such a run, the last loop.
///
/// Thread: that of its loop, unless a function says otherwise.
class GYRE_API stop_observers {
 public:
  stop_observers() noexcept = default;
  stop_observers(const stop_observers&) = delete;
  stop_observers& operator=(const stop_observers&) = delete;

  /// Tells `observer` of the level that has been reached, and of each that will be.
  void add(stop_observer& observer) noexcept;
  /// No-op for an observer that is not there.
  void remove(stop_observer& observer) noexcept;

  /// Thread: any; signal handlers.
  [[nodiscard]] static stop_level level() noexcept;
  /// From here on a stop request does not cancel the program: a task looks for it. Thread: any.
  static void note_interest() noexcept;
  /// See gyre::request_stop.
  static void request() noexcept;

  /// From here to give_up_authority `authority` decides. There is none yet.
  void take_authority(stop_authority& authority) noexcept;
  /// The level is `none` again. Returns when the loop refers to the authority no more.
  void give_up_authority() noexcept;
  /// A task of this loop waits for a stop request, and a run of the process turns signals into one. Thread: its loop's.
  [[nodiscard]] bool signals_wake_a_task() const noexcept;

  /// Raises the level, if it is lower, for the authority on this loop. Thread: any; signal handlers.
  void raise_to(stop_level level) noexcept;

 private:
  friend class event_loop;
  friend class node_list<stop_observers>;
  struct observer_list : node_list<stop_observer> {
    using node_list::link_last;
    using node_list::unlink;
  };
  struct bell : io::completion {
    stop_observers* owner = nullptr;
  };

  // For the loop. It is rung only while it is among the loops of the process, or has the authority.
  void join(event_loop& loop) noexcept;
  void leave() noexcept;
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
  // Atomic, by std::atomic_ref: <atomic> would cost every header above this one 5,000 lines.
  bool rung_ = false;                        // the bell is on its way
  stop_level announced_ = stop_level::none;  // to this loop, which may learn of it after the run that decides has ended
  int servers_ = 0;
  int waiters_ = 0;
  std::size_t size_ = 0;
  observer_list list_;
  bell bell_;
};

}  // namespace gyre
