// gyre/stream/copy.hpp: moves bytes from one stream to another.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre {

/// Reads `from` to its end and writes everything to `to`. Gives the number of bytes. Never reads ahead of what has been
/// written by more than one buffer of 16 KiB.
///
/// Lifetime: both streams outlive the await.
/// Cancel: bytes that were read and not written are lost with it; `to` may have a cut-off write.
/// Errors: what the streams throw.
template <readable_stream From, writable_stream To>
[[nodiscard]] task<std::uint64_t> copy(From& from, To& to) {
  std::array<std::byte, 16 * 1024> buffer;
  std::uint64_t total = 0;
  while (const std::size_t n = co_await from.read_some(std::span<std::byte>(buffer))) {
    co_await to.write_all(std::span<const std::byte>(buffer).first(n));
    total += n;
  }
  co_return total;
}

}  // namespace gyre
