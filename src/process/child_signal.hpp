// src/process/child_signal.hpp: signals to a child, or to its process group. Each function gives an errno, or 0.
#pragma once

namespace gyre {

/// To the process behind a pidfd. ESRCH: it has been reaped.
[[nodiscard]] int signal_child(int pidfd, int number) noexcept;

/// To the group that the process behind a pidfd leads or led: Linux 6.9. The kernel finds the group by the descriptor, so this is
/// the right one also when the leader was reaped and others have its number. ESRCH: all have ended. EINVAL: an older kernel.
[[nodiscard]] int signal_group(int pidfd, int number) noexcept;

/// To the process behind a pidfd by its number, or with -id as the receiver to the group that it leads, by kill(2). It is a child of this process, and its
/// number is its own until it is reaped. ESRCH: it was.
[[nodiscard]] int signal_unreaped(int pidfd, int receiver, int number) noexcept;

}  // namespace gyre
