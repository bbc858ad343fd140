// tests/tls/gated_ends.hpp: the two ends of an encrypted connection whose writes can be held up.
#pragma once

#include "tests/tls/conversation.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace gyre_test {

/// A stream below TLS whose writes wait while its gate is closed, as with a full socket.
struct gated_stream {
  gyre::memory_stream below;
  gyre::event* gate;

  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await below.read_some(buffer); }
  gyre::task<std::size_t> write_all(std::span<const std::byte> bytes) {
    co_await gate->wait();
    co_return co_await below.write_all(bytes);
  }
  void abort() noexcept { below.abort(); }
};

/// The two ends of a connection whose server writes through an open gate.
struct gated_ends {
  gyre::memory_pair ends;
  gyre::event gate;

  gated_ends() { gate.set(); }
  gyre::task<tls::stream> connect() {
    const tls::client_config clients(client_that_trusts());
    co_return co_await tls::connect(std::move(ends.second), "server.test", clients);
  }
  gyre::task<tls::stream> accept() {
    const tls::server_config servers(server_with_certificate());
    gated_stream below{std::move(ends.first), &gate};
    co_return co_await tls::accept(std::move(below), servers);
  }
};

}  // namespace gyre_test
