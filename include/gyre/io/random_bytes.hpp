// gyre/io/random_bytes.hpp: numbers that nobody can guess.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre::io {

/// Returns so many random bytes in hexadecimal. They come from getrandom(2), or from /dev/urandom where a system call
/// filter denies that. Thread: any. Errors: std::system_error when both fail.
[[nodiscard]] GYRE_API std::string random_hex(std::size_t bytes);

/// A secret for a hash table. Does not wait: 0 when getrandom(2) is denied or not seeded yet. Thread: any.
[[nodiscard]] GYRE_API std::uint64_t random_secret() noexcept;

}  // namespace gyre::io
