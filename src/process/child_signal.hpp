// src/process/child_signal.hpp: signals to a child or its process group. Each function returns an errno, or 0.
#pragma once

namespace gyre {

/// Signals the process of a pidfd. ESRCH: it has been reaped.
[[nodiscard]] int signal_child(int pidfd, int number) noexcept;

/// Signals the group that the process of a pidfd leads or led. Needs Linux 6.9. The kernel finds the group by the
/// descriptor, so it is the right one even if the leader was reaped and its number is in use again. ESRCH: all members
/// have ended. EINVAL: an older kernel.
[[nodiscard]] int signal_group(int pidfd, int number) noexcept;

/// Signals the process of a pidfd by its number with kill(2), or the group that it leads if `receiver` is -id. The
/// process is a child of this one, so nobody else has its number until it is reaped. ESRCH: it was reaped.
[[nodiscard]] int signal_unreaped(int pidfd, int receiver, int number) noexcept;

}  // namespace gyre
