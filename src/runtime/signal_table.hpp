// src/runtime/signal_table.hpp: which part of the program owns which signal.
#pragma once

#include <cstdint>

namespace gyre {

/// Receives the signals that it owns. Lifetime: from take_signal to release_signal, of which the latter waits for
/// handlers.
struct signal_owner {
  /// Called in a signal handler, on any thread, also while it runs already: async-signal-safe calls only.
  void (*arrived)(signal_owner& owner, int number) noexcept = nullptr;
};

/// A signal has one owner of each rank at most. It goes to the one with the lowest rank.
enum class signal_rank : std::uint8_t {
  chosen,       ///< a signal_set
  termination,  ///< run_options::handle_signals
};

/// Directs a signal of the process to `owner`. The first owner of a signal replaces its action (see sigaction(2)), and
/// the last one restores it. If other code has installed a handler meanwhile, the last owner leaves that in place, and
/// calls of this handler from there go to the action that was replaced. A child of fork has no owners and the replaced
/// actions.
///
/// Returns 0 or an errno: EINVAL for a number that is no signal or cannot be caught, EBUSY when the rank is taken.
/// Thread: any.
[[nodiscard]] int take_signal(int number, signal_rank rank, signal_owner& owner) noexcept;

/// Afterwards no handler uses `owner`, on any thread. No-op for a signal that `owner` does not own.
/// Thread: any, but no signal handler.
void release_signal(int number, signal_rank rank, const signal_owner& owner) noexcept;

}  // namespace gyre
