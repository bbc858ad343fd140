// tests/tls/cut_stream.hpp: a connection below TLS that delivers only the beginning of a record.
#pragma once

#include <gyre/gyre.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace gyre_test {

/// TCP below TLS. After `cut`, the first bytes of the next write leave, and nothing more.
struct cut_stream {
  gyre::tcp_stream inner;
  bool* cut;
  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await inner.read_some(buffer); }
  gyre::task<> write_all(std::span<const std::byte> bytes) {
    constexpr std::size_t beginning_of_record = 10;
    if (*cut) bytes = bytes.first(std::min(bytes.size(), beginning_of_record));
    (void)co_await inner.write_all(bytes);
  }
  void abort() noexcept { inner.abort(); }
};

}  // namespace gyre_test
