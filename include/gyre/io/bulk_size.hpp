// gyre/io/bulk_size.hpp: how much one system call moves in a large transfer.
#pragma once

#include <cstdint>

namespace gyre::io {

/// The size in bytes of the pieces in which large transfers are received and sent: 256 KiB less the room for four
/// headers. One packet of the loopback interface carries 64 KiB less 53 to 72 bytes. A relay that forwards 64 KiB at a
/// time sends the rest as a packet of its own, which costs as much as a full one.
inline constexpr std::uint32_t bulk_size = 4 * 65'408;

}  // namespace gyre::io
