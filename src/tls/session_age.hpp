// src/tls/session_age.hpp: how long a session may be resumed after the handshake that verified the peer.
#pragma once

#include "openssl.hpp"

#include <chrono>

namespace gyre::tls {

/// Writes into a new session when its handshake was, and until when the certificates of the peer's chain and the lists
/// of revoked ones are good. A session that continues another one inherits both. Returns false when there is no memory.
[[nodiscard]] bool note_age(SSL& connection, SSL_SESSION& session) noexcept;

/// False for a session without a note, one whose handshake is more than `lifetime` ago, and one with a certificate or a
/// list that has expired.
[[nodiscard]] bool is_fresh(SSL_SESSION& session, std::chrono::seconds lifetime) noexcept;

}  // namespace gyre::tls
