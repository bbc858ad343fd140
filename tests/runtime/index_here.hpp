// tests/runtime/index_here.hpp: a task that tells the loop on which it runs.
#pragma once

#include <gyre/gyre.hpp>

#include <cstddef>

namespace gyre_test {

inline gyre::task<std::size_t> index_here() { co_return gyre::event_loop::current().index(); }

}  // namespace gyre_test
