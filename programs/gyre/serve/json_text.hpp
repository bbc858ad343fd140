// programs/gyre/serve/json_text.hpp: file names in JSON.
#pragma once

#include <string>
#include <string_view>

namespace programs {

/// Appends a quoted string. Bytes that are not UTF-8 become U+FFFD, as in directory listings.
void append_json(std::string& out, std::string_view text);

}  // namespace programs
