// gyre/stream/byte_stream.hpp: what makes a type a stream of bytes.
#pragma once

#include <gyre/tasks/as_task.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace gyre {

/// `co_await s.read_some(buffer)` gives how many bytes were read, 0 at the end of the stream.
template <class S>
concept readable_stream = requires(S& s, std::span<std::byte> buffer) {
  requires std::convertible_to<await_result<decltype(s.read_some(buffer))>, std::size_t>;
};

/// `co_await s.write_all(bytes)` returns when all of them have been written.
template <class S>
concept writable_stream =
    requires(S& s, std::span<const std::byte> bytes) { sizeof(wrap_void<await_result<decltype(s.write_all(bytes))>>); };

/// Both directions.
template <class S>
concept byte_stream = readable_stream<S> && writable_stream<S>;

/// `co_await s.shutdown_write()` tells the reader that no more will come; reading goes on.
template <class S>
concept half_closable_stream =
    byte_stream<S> && requires(S& s) { sizeof(wrap_void<await_result<decltype(s.shutdown_write())>>); };

/// `s.abort()` ends the connection at once, in both directions: what was not delivered is lost, and the peer sees an error.
template <class S>
concept abortable_stream = byte_stream<S> && requires(S& s) {
  { s.abort() } noexcept;
};

}  // namespace gyre
