// src/process/conversation.hpp: waits for a child while feeding it and reading its output, within its limits.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/process/process_result.hpp>

#include "process_state.hpp"

#include <cstddef>
#include <string>

namespace gyre {

/// Cancel: stops waiting. Errors: io_error.
task<exit_status> wait_for_end(process_state::waiter child);

/// Implements process::communicate.
/// Cancel: output of the child so far is lost. Errors: process_timed_out, io_error.
task<process_result> converse(process_state::waiter child, std::string text, std::size_t limit);

}  // namespace gyre
