// programs/gyre/requests/size_text.cpp: sizes for people.
#include "programs/gyre/requests/size_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace programs {

std::string size_text(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

}  // namespace programs
