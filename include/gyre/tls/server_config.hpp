// gyre/tls/server_config.hpp: certificates and rules of a TLS server.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/tls/certificate.hpp>
#include <gyre/tls/context_reference.hpp>
#include <gyre/tls/ticket_keys.hpp>
#include <gyre/tls/version.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gyre::tls {

/// Whether a server wants certificates of its clients.
enum class client_certificates : std::uint8_t {
  none,
  optional,  ///< a client may send one, which must then be valid
  required,
};

struct server_options {
  /// At least one. A client that asks for a name (SNI) gets the first certificate for it, wildcards included. Others
  /// get the first one of all.
  std::vector<certificate> certificates = {};
  /// The protocols of this server (ALPN, RFC 7301), the preferred one first: {"http/1.1"}. A client that offers
  /// only others is refused. Empty means that the server does not take part.
  std::vector<std::string> protocols = {};
  version min_version = version::tls_1_2;
  client_certificates clients = client_certificates::none;
  /// PEM text: certificates of the authorities that clients' certificates must come from, and lists of revoked ones
  /// (CRLs).
  std::string client_authorities = {};
  /// The keys of tickets, by which clients resume their sessions. A new configuration accepts the tickets of an earlier
  /// one that has the same keys.
  ticket_keys tickets = ticket_keys();
  /// How long after a full handshake a client may resume its session, also by tickets that it got in between. A session
  /// also ends with the certificates of the client and of those who vouch for it, and with the lists of revoked ones. 0
  /// means that no session is resumed.
  std::chrono::seconds session_lifetime = std::chrono::hours(24);
  /// The time for a handshake.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds(10);
};

/// The settings of a server, ready for use. Copies share them.
///
/// Thread: any, also at the same time. Connections keep the configuration with which they began, so a server may use a
/// new one for the next connections.
class GYRE_API server_config {
 public:
  /// Errors: tls_error bad_configuration, when a certificate cannot be read, does not match its key, or is missing;
  /// std::invalid_argument when the variable GYRE_KERNEL_TLS has a wrong value: see kernel_encryption().
  explicit server_config(const server_options& options);

  /// As in the options. Errors: std::bad_alloc.
  [[nodiscard]] std::vector<std::string> protocols() const;
  [[nodiscard]] const context_reference& shared() const noexcept { return context_; }

 private:
  context_reference context_;
};

}  // namespace gyre::tls
