// gyre/tls/version.hpp: the versions of the protocol.
#pragma once

#include <cstdint>

namespace gyre::tls {

enum class version : std::uint16_t {
  tls_1_2 = 0x0303,  ///< RFC 5246
  tls_1_3 = 0x0304,  ///< RFC 8446
};

}  // namespace gyre::tls
