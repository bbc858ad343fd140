// tests/support/sanitized.hpp: what a build can do no test of.
#pragma once

namespace gyre_test {

/// The undefined-behaviour sanitizer opens a pipe to look at an exception's type: without free descriptors it reports an error
/// that is none.
inline constexpr bool needs_free_descriptors =
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

/// The address sanitizer ends a thread whose stack it cannot ask the kernel about.
inline constexpr bool threads_need_their_affinity =
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

}  // namespace gyre_test
