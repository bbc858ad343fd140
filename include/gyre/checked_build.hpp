// gyre/checked_build.hpp: whether this build checks everything. For authors of operations.
#pragma once

namespace gyre {

/// Expensive checks on hot paths run only in debug builds and under a sanitizer.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool checks_everything = true;
#elif defined(__has_feature)
constexpr bool checks_everything = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool checks_everything = false;
#endif

}  // namespace gyre
