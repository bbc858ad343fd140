// tests/net/random_loop.hpp: loops whose buffers and turns vary with the seed.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/support/seeds.hpp"

#include <array>
#include <cstdint>

namespace gyre_test {

/// Few or many buffers, small or large, and turns of one to 128 tasks.
inline gyre::run_options loop_for(unsigned seed) {
  choices choose(seed);
  gyre::run_options options;
  options.loop.backend.buffer_count = 16U << choose.below(7);
  options.loop.backend.buffer_size = 512U << choose.below(4);
  const std::array<std::uint32_t, 4> larges{0, 1, 3, 64};
  options.loop.backend.large_buffer_count = larges[choose.below(4)];
  options.loop.backend.large_buffer_size = 1024U << choose.below(7);
  const std::array<int, 4> turns{1, 2, 5, 128};
  options.loop.ready_per_turn = turns[choose.below(4)];
  return options;
}

}  // namespace gyre_test
