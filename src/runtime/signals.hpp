// src/runtime/signals.hpp: SIGINT and SIGTERM become a cancel of the main task.
#pragma once

#include <gyre/io/completion.hpp>

namespace gyre {

class event_loop;
struct task_state;

/// Directs SIGINT and SIGTERM to the main task of a loop, from watch to unwatch. One at a time in a process.
namespace termination_signals {

/// Errors: std::logic_error when another loop of the process handles them.
void watch(event_loop& loop);
void unwatch() noexcept;

/// Whom to cancel; null: nobody yet, or no longer.
void set_main(task_state* main) noexcept;

/// The first signal that came, or 0.
int received() noexcept;

}  // namespace termination_signals
}  // namespace gyre
