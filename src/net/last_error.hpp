// src/net/last_error.hpp: errno as an exception.
#pragma once

#include <cerrno>
#include <system_error>

namespace gyre {

[[nodiscard]] inline std::system_error last_error() { return {errno, std::generic_category()}; }

}  // namespace gyre
