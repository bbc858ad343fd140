// programs/gyre/serve/json_text.hpp: names of files in JSON.
#pragma once

#include <string>
#include <string_view>

namespace programs {

/// As a quoted string. Bytes that are no UTF-8 become U+FFFD, as in the listings of directories.
void append_json(std::string& out, std::string_view text);

}  // namespace programs
