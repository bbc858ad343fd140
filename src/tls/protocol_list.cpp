// src/tls/protocol_list.cpp: writes and reads lists of protocols.
#include <gyre/tls/tls_error.hpp>

#include "protocol_list.hpp"

#include <cstddef>

namespace gyre::tls {

std::string in_wire_format(const std::vector<std::string>& protocols) {
  std::string all;
  for (const std::string& each : protocols) {
    if (each.empty() || each.size() > 255)
      throw tls_error(tls_errc::bad_configuration, "protocols", each, "a name has 1 to 255 bytes (RFC 7301)");
    (all += static_cast<char>(each.size())) += each;
  }
  return all;
}

std::vector<std::string> from_wire_format(std::string_view protocols) {
  std::vector<std::string> all;
  while (!protocols.empty()) {
    const auto size = static_cast<unsigned char>(protocols.front());
    all.emplace_back(protocols.substr(1, size));
    protocols.remove_prefix(std::size_t{1} + size);
  }
  return all;
}

}  // namespace gyre::tls
