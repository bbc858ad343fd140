// programs/resp_server/glob.hpp: the patterns of KEYS and CONFIG GET.
#pragma once

#include <cstdint>
#include <string_view>

namespace resp {

enum class letter_case : std::uint8_t { matters, ignored };

/// True when the whole text matches: `*`, `?`, `[abc]`, `[^a-z]`, `\c`, as Redis does it.
/// At most pattern size x text size steps, whatever the pattern.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text,
                              letter_case letters = letter_case::matters) noexcept;

}  // namespace resp
