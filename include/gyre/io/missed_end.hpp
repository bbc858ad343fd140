// gyre/io/missed_end.hpp: finding the end of a stream that the kernel has not told.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>

namespace gyre::io {

/// For whoever is about to wait for more. An armed receive_many may wait for an end that is there already: its last bytes were
/// all that the kernel had, and what came with them (a reset; the end of a Unix socket) wakes nobody any more. See
/// docs/decisions/0009. This looks, where that may be so, and has the receive tried anew when the stream has ended. One system
/// call, or none.
GYRE_API void look_for_missed_end(multishot& m, backend& performer) noexcept;

/// Something was written since: a stream that had been reset would not have taken it.
GYRE_API void end_was_not_missed(multishot& m) noexcept;

}  // namespace gyre::io
