// src/http/random_bytes.hpp: unpredictable bytes.
#pragma once

#include <span>

namespace gyre::http {

/// Uses getrandom(2), or /dev/urandom where a system call filter denies that. Errors: std::system_error when both fail.
void fill_with_random(std::span<unsigned char> bytes);

}  // namespace gyre::http
