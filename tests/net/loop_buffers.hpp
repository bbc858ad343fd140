// tests/net/loop_buffers.hpp: the receive buffers of the current loop.
#pragma once

#include <gyre/gyre.hpp>

#include <cstdint>

namespace gyre_test {

inline gyre::io::buffer_pool& pool() { return gyre::event_loop::current().backend().buffers(); }

/// The number of common buffers that neither the pool nor the kernel has.
inline std::uint32_t common_in_use() { return pool().count() - pool().available() - pool().with_kernel(); }

}  // namespace gyre_test
