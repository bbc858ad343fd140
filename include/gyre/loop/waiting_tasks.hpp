// gyre/loop/waiting_tasks.hpp: prints the tasks of a loop.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdio>

namespace gyre {

class cancel_scope;

/// Prints each task below `root` with its name, where it was spawned, and the call stack of the await in which it is
/// suspended. Prints only the first twenty tasks. Returns the number of all tasks. Thread: that of the loop.
GYRE_API std::size_t print_waiting_tasks(const cancel_scope& root, std::FILE* out = stderr) noexcept;

}  // namespace gyre
