// gyre/io/bulk_size.hpp: how much one system call moves in a large transfer.
#pragma once

#include <cstdint>

namespace gyre::io {

/// The size of the pieces in which large transfers are received and sent: four packets of the loopback interface, each
/// of which carries 64 KiB less 53 to 73 bytes of headers. A relay that forwards 64 KiB at a time sends the rest as a
/// packet of its own, which costs as much as a full one. Units: bytes.
inline constexpr std::uint32_t bulk_size = 4 * 65'408;

}  // namespace gyre::io
