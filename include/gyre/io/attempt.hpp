// gyre/io/attempt.hpp: performs a request at once, when it needs no waiting. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>

namespace gyre::io {

/// True when the operation waits until its descriptor is readable, false when it waits until it is writable.
[[nodiscard]] GYRE_API bool reads(opcode code) noexcept;

/// Tries a one-shot request with one non-blocking system call, the same on every backend.
///
/// Returns true when it is done; `result` is then a count, a descriptor or -errno. Returns false when it would have to
/// wait; then the target's `readable` or `writable` is cleared, and the caller may submit it. Never touches `where`,
/// never completes. A transfer shorter than requested clears the target's flag too, because the next attempt would only
/// find EAGAIN. Exceptions: `hangup` is set, or the read stopped at passed descriptors.
GYRE_API bool attempt(request& r) noexcept;

/// recv(2) of `size` bytes of a stream without waiting. Returns the count, 0 at the end of the stream, or -errno.
/// Clears the descriptor's `readable` when nothing is left to read. For backends.
[[nodiscard]] long receive_now(descriptor& d, void* into, std::size_t size) noexcept;

}  // namespace gyre::io
