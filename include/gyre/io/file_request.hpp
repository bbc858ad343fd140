// gyre/io/file_request.hpp: an operation on a file or on a path as data. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/request.hpp>

#include <cstdint>

struct iovec;

namespace gyre::io {

class offloaded_calls;

/// A request that concerns a file. A ring or a thread of the blocking pool performs it, with the same meaning.
///
/// It cannot be interrupted once it has started: a cancel ends it before that, or comes too late. The target of an
/// operation on a path is `working_directory()`, or the open directory to which the path is relative.
struct file_request : request, blocking_job {
  /// For the flags of a write: the file system cannot report that it would wait. A ring would always use a kernel
  /// thread for such a write; a thread of the pool may be faster.
  static constexpr std::uint32_t may_wait_for_memory = 1;
  static constexpr std::uint64_t current_position = ~std::uint64_t{0};

  std::uint64_t offset = current_position;
  void* second = nullptr;             ///< the second address
  std::uint32_t flags = 0;            ///< passed to the system call
  std::uint32_t mode = 0;             ///< permissions of a new file, before the umask
  offloaded_calls* thread = nullptr;  ///< kept by the backend
};

/// Performs the request with one system call, which may block for as long as the disk takes. Returns the value for
/// `result`.
[[nodiscard]] GYRE_API int perform(const file_request& r) noexcept;

/// The same without SIGPIPE: a write with no reader at the other end results in EPIPE. SIGPIPE stays blocked for this
/// thread from the first call on; processes that gyre starts do not inherit that.
[[nodiscard]] GYRE_API int perform_without_signal(const file_request& r) noexcept;

/// preadv2(2) or pwritev2(2), or an equivalent where a system-call filter denies these. Offset -1 means the current
/// position. Returns a count, or -1 and errno; EOPNOTSUPP when only the denied call could obey `flags`.
[[nodiscard]] GYRE_API long transfer_at(bool reads, int fd, const iovec* buffers, int count, std::int64_t offset,
                                        int flags) noexcept;

/// Represents the directory to which relative paths refer. Thread: each thread has its own.
[[nodiscard]] GYRE_API descriptor& working_directory() noexcept;

}  // namespace gyre::io
