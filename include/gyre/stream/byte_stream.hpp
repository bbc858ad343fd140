// gyre/stream/byte_stream.hpp: the concepts of byte streams.
#pragma once

#include <gyre/tasks/as_task.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace gyre {

class buffer_lease;

/// `co_await s.read_some(buffer)` returns the number of bytes that were read, or 0 at the end of the stream.
template <class S>
concept readable_stream = requires(S& s, std::span<std::byte> buffer) {
  requires std::convertible_to<await_result<decltype(s.read_some(buffer))>, std::size_t>;
};

/// `co_await s.receive()` lends the bytes that have arrived, where they are; empty at the end of the stream.
template <class S>
concept lending_stream =
    readable_stream<S> && requires(S& s) { requires std::same_as<await_result<decltype(s.receive())>, buffer_lease>; };

/// `co_await s.write_all(bytes)` returns when all bytes have been written.
template <class S>
concept writable_stream =
    requires(S& s, std::span<const std::byte> bytes) { sizeof(wrap_void<await_result<decltype(s.write_all(bytes))>>); };

/// Both directions.
template <class S>
concept byte_stream = readable_stream<S> && writable_stream<S>;

/// `co_await s.shutdown_write()` signals the end of the data to the reader. Reading remains possible.
template <class S>
concept half_closable_stream =
    byte_stream<S> && requires(S& s) { sizeof(wrap_void<await_result<decltype(s.shutdown_write())>>); };

/// `co_await s.next_or_stop()` waits between two messages. Returns true when there are bytes to read; false at the end
/// of the stream, and when the program has been asked to stop and nothing has arrived; s.has_ended() tells which of the
/// two it was. Takes nothing.
template <class S>
concept stop_aware_stream = readable_stream<S> && requires(S& s) {
  requires std::convertible_to<await_result<decltype(s.next_or_stop())>, bool>;
  { s.has_ended() } noexcept -> std::convertible_to<bool>;
};

/// False for a stream that has next_or_stop() without has_ended(): a stop would silently not reach it.
template <class S>
concept takes_part_in_stops_or_not = stop_aware_stream<S> || !requires(S& s) { s.next_or_stop(); };

/// `s.abort()` ends the connection at once, in both directions: undelivered data is lost, and the peer sees an error.
template <class S>
concept abortable_stream = byte_stream<S> && requires(S& s) {
  { s.abort() } noexcept;
};

}  // namespace gyre
