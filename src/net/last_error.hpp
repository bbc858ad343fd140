// src/net/last_error.hpp: errno as an error.
#pragma once

#include <cerrno>
#include <system_error>

namespace gyre {

[[nodiscard]] inline std::error_code errno_code(int error) noexcept { return {error, std::generic_category()}; }
[[nodiscard]] inline std::system_error last_error() { return std::system_error(errno_code(errno)); }

}  // namespace gyre
