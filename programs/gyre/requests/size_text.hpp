// programs/gyre/requests/size_text.hpp: sizes for people.
#pragma once

#include <string>

namespace programs {

/// "12.3 MiB"
[[nodiscard]] std::string size_text(double bytes);

}  // namespace programs
