// tests/support/sanitized.hpp: what a build can do no test of.
#pragma once

namespace gyre_test {

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
