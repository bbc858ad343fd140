// gyre/coro/await_place.hpp: where in a program's own code a suspended task waits, for messages.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

#include <source_location>

namespace gyre {

/// The innermost await of a suspended task that is not written in the library itself, or else the innermost one. Line 0 when
/// there is none: the task runs.
[[nodiscard]] GYRE_API std::source_location place_of_wait(const frame_base* innermost) noexcept;

}  // namespace gyre
