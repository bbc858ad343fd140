// tests/support/mebibyte.hpp: the unit of large sizes.
#pragma once

#include <cstddef>

namespace gyre_test {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20U;

}  // namespace gyre_test
