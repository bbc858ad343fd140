// gyre/io/kernel.hpp: the one door to the operating system. For authors of operations and backends.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/file_calls.hpp>
#include <gyre/io/kernel_scope.hpp>
#include <gyre/io/socket_calls.hpp>

#include <cstddef>

struct timespec;

namespace gyre::io {

class blocking_pool;
struct blocking_job;

/// All calls by which this library waits, moves bytes, reads a clock, draws randomness or uses a thread.
///
/// A backend keeps the kernel that its thread had when it was made, and its loop uses the same one. So a backend that
/// counts, delays, fails or simulates calls is made inside of a kernel_scope, with a copy of real() in which it has
/// replaced entries. See docs/decisions/0023.
/// Thread: any, for all entries.
struct kernel {
  socket_calls sockets;
  file_calls files;

  int (*clock_gettime)(int clock, timespec* now);
  std::ptrdiff_t (*getrandom)(void* into, std::size_t size, unsigned flags);

  /// blocking_pool::submit_awaited and blocking_pool::withdraw.
  void (*submit_job)(blocking_pool& pool, blocking_job& job, std::size_t* waiting);
  bool (*withdraw_job)(blocking_job& job);

  /// The kernel of this thread: that of its loop, or of the job that a pool runs on it; elsewhere real().
  [[nodiscard]] static const kernel& here() noexcept { return *here_; }
  /// The operating system itself.
  [[nodiscard]] GYRE_API static const kernel& real() noexcept;

 private:
  friend class kernel_scope;
  GYRE_API static constinit thread_local const kernel* here_;
};

/// Shorter names for the tables of kernel::here().
[[nodiscard]] inline const socket_calls& sockets() noexcept { return kernel::here().sockets; }
[[nodiscard]] inline const file_calls& files() noexcept { return kernel::here().files; }

}  // namespace gyre::io
