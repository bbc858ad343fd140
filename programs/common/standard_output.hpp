// programs/common/standard_output.hpp: results, which are not lost without a message.
#pragma once

#include <string_view>

namespace programs {

/// Writes a result to standard output, and waits for its reader. Returns false when that fails, with a message on
/// standard error unless the reader has left.
[[nodiscard]] bool print_result(std::string_view text) noexcept;

}  // namespace programs
