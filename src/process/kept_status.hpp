// src/process/kept_status.hpp: the status of a child that other code has reaped.
#pragma once

#include <gyre/process/exit_status.hpp>

namespace gyre {

/// Returns how the process of a pidfd has ended. The kernel keeps that for holders of the descriptor since Linux 6.15.
/// Before that, the status is unknown.
[[nodiscard]] exit_status kept_status(int pidfd) noexcept;

}  // namespace gyre
