// src/io/refusal_text.hpp: why a backend cannot be had here, and what helps, for people.
#pragma once

#include <gyre/io/uring/capabilities.hpp>

#include <cstddef>

namespace gyre::io {

/// Writes one line: the call, the name of the error, the likely cause and the remedy. Reads /proc for that.
void describe_refusal(const uring::refusal& refused, char* out, std::size_t size) noexcept;

}  // namespace gyre::io
