// src/runtime/signal_table.hpp: the owners of signals.
#pragma once

#include <cstdint>

namespace gyre {

/// Receives the signals that it owns. Lifetime: from take_signal to release_signal, which waits for running handlers.
struct signal_owner {
  /// Called in a signal handler, on any thread, possibly while it runs already. Only
  /// async-signal-safe calls are allowed.
  void (*arrived)(signal_owner& owner, int number) noexcept = nullptr;
};

/// A signal has at most one owner per rank. It goes to the owner with the lowest rank.
enum class signal_rank : std::uint8_t {
  chosen,       ///< a signal_set
  termination,  ///< run_options::handle_signals
};

/// Directs a signal of the process to `owner`. The first owner of a signal replaces its action (see sigaction(2)),
/// and the last one restores it. If other code has installed a handler meanwhile, the last owner leaves that one in
/// place. When that handler calls this one, the call goes to the action that was replaced. A child of fork has no
/// owners, and has the replaced actions.
///
/// Returns 0 or an errno: EINVAL for a number that is not a signal or cannot be caught, EBUSY when the rank is taken.
/// Thread: any.
[[nodiscard]] int take_signal(int number, signal_rank rank, signal_owner& owner) noexcept;

/// After this, no handler uses `owner` on any thread. No-op for a signal that `owner` does not own.
/// Thread: any, but not in a signal handler.
void release_signal(int number, signal_rank rank, const signal_owner& owner) noexcept;

}  // namespace gyre
