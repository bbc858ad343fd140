// gyre/tls/client_config.hpp: whom a TLS client trusts.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/tls/certificate.hpp>
#include <gyre/tls/context_reference.hpp>
#include <gyre/tls/version.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gyre::tls {

struct client_options {
  /// PEM text: certificates that are trusted in place of the system's authorities. It may also hold lists of revoked
  /// certificates (CRLs): those of an authority apply to all that it has signed.
  std::string authorities = {};
  /// The protocols that this client speaks (ALPN, RFC 7301), the preferred one first.
  std::vector<std::string> protocols = {};
  version min_version = version::tls_1_2;
  /// Sent to a server that asks for it.
  std::optional<certificate> identity = {};
  /// How long after a full handshake its session may be resumed, also by tickets of connections in between. A session
  /// also ends with the certificates of the server and of those who vouch for it, and with the lists of revoked ones. 0
  /// means that no session is resumed.
  std::chrono::seconds session_lifetime = std::chrono::hours(24);
  /// The time for a handshake.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds(10);
  /// Accepts every certificate, so that anybody on the way can read and change everything. For tests only. A line on
  /// standard error says so once.
  bool insecure_skip_verify = false;
};

/// The settings of clients, ready for use. Copies share them. Without options, a client verifies the server's chain
/// with the authorities of the system, and its name. Connections resume the sessions of earlier ones to the same server
/// with the same configuration.
///
/// Thread: any, also at the same time.
class GYRE_API client_config {
 public:
  /// Errors: tls_error bad_configuration, when a certificate cannot be read or does not match its key.
  explicit client_config(const client_options& options = {});

  /// True when the options had an identity.
  [[nodiscard]] bool has_identity() const noexcept;
  /// The same settings without the identity, for servers that must not learn it. Their connections do not resume the
  /// sessions of the others. Errors: same as the constructor.
  [[nodiscard]] client_config without_identity() const;

  [[nodiscard]] const context_reference& shared() const noexcept { return context_; }

 private:
  context_reference context_;
};

}  // namespace gyre::tls
