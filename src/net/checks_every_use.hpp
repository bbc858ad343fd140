// src/net/checks_every_use.hpp: what builds with assertions check in addition.
#pragma once

namespace gyre {

/// An operation on a socket of another loop stops the program where it waits, in every build. Builds with assertions, such as the
/// sanitizers', check those too that find their result at once: a test that the fastest path does without in a release.
#ifdef NDEBUG
inline constexpr bool checks_every_use = false;
#else
inline constexpr bool checks_every_use = true;
#endif

}  // namespace gyre
