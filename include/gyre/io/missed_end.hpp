// gyre/io/missed_end.hpp: detects ends and data that the kernel has not reported yet. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>

namespace gyre::io {

/// For a caller that is about to wait for more data. An armed receive_many may wait for an end that has already come:
/// its last bytes were all that the kernel had, and the event that came with them (a reset; the end of a Unix socket)
/// no longer wakes it. See docs/decisions/0009. Where that is possible, this checks, and restarts the receive when the
/// stream has ended. It makes at most one system call.
GYRE_API void look_for_missed_end(multishot& m, backend& performer) noexcept;

/// True when the kernel has data, an end or an error of this socket that nobody has received. Makes one system call.
[[nodiscard]] GYRE_API bool has_unreceived(int socket, backend& performer) noexcept;

/// Records a successful write: a stream that had been reset would not have accepted it.
GYRE_API void end_was_not_missed(multishot& m) noexcept;

}  // namespace gyre::io
