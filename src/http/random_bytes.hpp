// src/http/random_bytes.hpp: bytes that nobody can guess.
#pragma once

#include <span>

namespace gyre::http {

/// From getrandom(2), or /dev/urandom where a filter of system calls denies that. Errors: std::system_error when neither gives any.
void fill_with_random(std::span<unsigned char> bytes);

}  // namespace gyre::http
