// gyre/stream/byte_stream.hpp: what makes a type a stream of bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace gyre {

/// `co_await s.read_some(buffer)` gives how many bytes were read, 0 at the end of the stream.
template <class S>
concept readable_stream = requires(S& s, std::span<std::byte> buffer) {
  { s.read_some(buffer).await_resume() } -> std::convertible_to<std::size_t>;
};

/// `co_await s.write_all(bytes)` returns when all of them have been written.
template <class S>
concept writable_stream = requires(S& s, std::span<const std::byte> bytes) { s.write_all(bytes).await_resume(); };

/// Both directions.
template <class S>
concept byte_stream = readable_stream<S> && writable_stream<S>;

}  // namespace gyre
