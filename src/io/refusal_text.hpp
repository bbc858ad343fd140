// src/io/refusal_text.hpp: explains why a backend is unavailable, with a remedy.
#pragma once

#include <gyre/io/uring/capabilities.hpp>

#include <cstddef>

namespace gyre::io {

/// Writes one line: the call, the name of the error, the likely cause and the remedy. Reads /proc for the cause.
void describe_refusal(const uring::refusal& refused, char* out, std::size_t size) noexcept;

}  // namespace gyre::io
