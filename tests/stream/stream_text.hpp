// tests/stream/stream_text.hpp: text that tests write to streams and read from them.
#pragma once

#include <gyre/coro/task.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre_test {

inline std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

template <class Stream>
gyre::task<std::string> read_all(Stream& stream) {
  std::string all;
  std::array<char, 7> buffer;
  while (const std::size_t n = co_await stream.read_some(std::as_writable_bytes(std::span(buffer))))
    all.append(buffer.data(), n);
  co_return all;
}

template <class Stream>
gyre::task<> write_and_end(Stream& stream, std::string text) {
  (void)co_await stream.write_all(bytes(text));
  co_await stream.shutdown_write();
}

inline std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ",";
  return text;
}

}  // namespace gyre_test
