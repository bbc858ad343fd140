// src/http/transport/encryption_resources.hpp: what the encrypted connections of a server share on one loop.
#pragma once

#include <gyre/http/server_options.hpp>

#include "busy_sessions.hpp"
#include "cipher_buffers.hpp"
#include "handshakes.hpp"

namespace gyre::http {

struct encryption_resources {
  /// Lifetime: `chosen` must outlive this.
  explicit encryption_resources(const server_options& chosen) noexcept : options(chosen) {}
  encryption_resources& operator=(encryption_resources&&) = delete;

  const server_options& options;
  cipher_buffers ciphers = {};
  http::handshakes handshakes = {};
  http::busy_sessions busy_sessions = {};
};

}  // namespace gyre::http
