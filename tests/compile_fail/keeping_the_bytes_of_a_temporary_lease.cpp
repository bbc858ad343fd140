// tests/compile_fail/keeping_the_bytes_of_a_temporary_lease.cpp: the buffer is given back before the bytes are used.
// expect: deleted
#include <gyre/net.hpp>

gyre::task<> caller(gyre::tcp_stream& peer) {
  const std::span<const std::byte> bytes = co_await peer.receive();
  co_await peer.write_all(bytes);
}
