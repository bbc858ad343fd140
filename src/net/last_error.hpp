// src/net/last_error.hpp: what errno says, to be thrown.
#pragma once

#include <cerrno>
#include <system_error>

namespace gyre {

[[nodiscard]] inline std::system_error last_error() { return {errno, std::generic_category()}; }

}  // namespace gyre
