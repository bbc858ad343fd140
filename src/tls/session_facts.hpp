// src/tls/session_facts.hpp: what the peers of a connection have agreed upon.
#pragma once

#include "openssl.hpp"

#include <string>
#include <string_view>

namespace gyre::tls {

/// For people: "CN=client 7". Empty without memory.
[[nodiscard]] std::string text_of(const X509_NAME* name);
/// The subject of the peer's certificate, "CN=client 7"; empty when it has sent none.
[[nodiscard]] std::string subject_of_peer(SSL& connection);
/// SNI; empty when there is none. Lifetime: that of the connection.
[[nodiscard]] std::string_view name_asked_for(SSL& connection) noexcept;
/// ALPN; empty when there is none. Lifetime: that of the connection.
[[nodiscard]] std::string_view protocol_of(SSL& connection) noexcept;

}  // namespace gyre::tls
