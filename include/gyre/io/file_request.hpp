// gyre/io/file_request.hpp: an operation on a file or on a path as data.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/request.hpp>

#include <cstdint>

struct iovec;

namespace gyre::io {

class offloaded_calls;

/// A request that concerns a file. A ring performs it, or a thread of the blocking pool; the meaning is the same.
///
/// It cannot be interrupted once it has begun: a cancel ends it before that, or comes too late.
/// The target of what takes a path is `working_directory()`, or an open directory that the path begins in.
struct file_request : request, blocking_job {
  /// flags of a write: the file system cannot say that it would not wait. A ring would always leave it to a thread of the
  /// kernel; one of the pool may be quicker.
  static constexpr std::uint32_t may_wait_for_memory = 1;
  static constexpr std::uint64_t current_position = ~std::uint64_t{0};

  std::uint64_t offset = current_position;
  void* second = nullptr;             ///< the second address
  std::uint32_t flags = 0;            ///< as the system call takes them
  std::uint32_t mode = 0;             ///< permissions of what is made, before the umask
  offloaded_calls* thread = nullptr;  ///< kept by the backend
};

/// Performs it with one system call, which may block for as long as the disk wants. Gives what becomes `result`.
[[nodiscard]] GYRE_API int perform(const file_request& r) noexcept;

/// The same without the signal that kills: nobody at the other end gives EPIPE. SIGPIPE stays blocked for this thread from
/// the first call on; processes that gyre starts do not inherit that.
[[nodiscard]] GYRE_API int perform_without_signal(const file_request& r) noexcept;

/// preadv2(2) or pwritev2(2), or what does the same where a filter of system calls denies these. Offset -1: the current
/// position. Gives a count, or -1 and errno; EOPNOTSUPP when only the denied call could obey `flags`.
[[nodiscard]] GYRE_API long transfer_at(bool reads, int fd, const iovec* buffers, int count, std::int64_t offset,
                                        int flags) noexcept;

/// Stands for the directory that relative paths begin in. Thread: each has its own.
[[nodiscard]] GYRE_API descriptor& working_directory() noexcept;

}  // namespace gyre::io
