// gyre/io/random_bytes.hpp: unpredictable bytes.
#pragma once

#include <gyre/attributes.hpp>

#include <cstdint>
#include <span>

namespace gyre::io {

/// Fills the span by getrandom(2), or from /dev/urandom where a system call filter denies that. Thread: any.
/// Errors: std::system_error when both fail.
GYRE_API void fill_with_random(std::span<unsigned char> bytes);

/// A secret for a hash table. Does not wait: 0 when getrandom(2) is denied or not seeded yet. Thread: any.
[[nodiscard]] GYRE_API std::uint64_t random_secret() noexcept;

}  // namespace gyre::io
