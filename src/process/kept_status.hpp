// src/process/kept_status.hpp: the status of a child that somebody else has reaped.
#pragma once

#include <gyre/process/exit_status.hpp>

namespace gyre {

/// How the process behind a pidfd has ended, as the kernel keeps it for those who hold the descriptor: Linux 6.15.
/// Before that it is unknown.
[[nodiscard]] exit_status kept_status(int pidfd) noexcept;

}  // namespace gyre
