// tests/support/sanitized.hpp: what a sanitizer build cannot test, or tests less of.
#pragma once

namespace gyre_test {

/// Code runs several times slower.
inline constexpr bool has_address_sanitizer =
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

/// The address sanitizer ends a thread if it cannot query the thread's stack from the kernel.
inline constexpr bool threads_need_their_affinity = has_address_sanitizer;

/// The thread sanitizer lets a forked child of a program with several threads start no thread.
inline constexpr bool threads_end_at_fork =
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

}  // namespace gyre_test
