// gyre/io/attempt.hpp: performing a request at once, when that needs no waiting.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>

namespace gyre::io {

/// Whether an operation waits for its descriptor to become readable (else: writable).
[[nodiscard]] GYRE_API bool reads(opcode code) noexcept;

/// Tries a one-shot request with one non-blocking system call, the same on every backend.
///
/// True: done, `result` is set (a count, a descriptor or -errno). False: it would have to wait; the target's
/// `readable` or `writable` is cleared, and the caller may submit it. Never touches `where`, never completes.
/// After a transfer that was shorter than asked the target's flag is cleared too (the next try would only find
/// EAGAIN), unless `hangup` is set or the read stopped at descriptors that were passed along.
GYRE_API bool attempt(request& r) noexcept;

/// recv(2) of `size` bytes of a stream without waiting. Gives the count, 0 at its end, or -errno. Clears the descriptor's
/// `readable` when nothing is left to be read. For backends.
[[nodiscard]] long receive_now(descriptor& d, void* into, std::size_t size) noexcept;

}  // namespace gyre::io
