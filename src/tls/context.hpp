// src/tls/context.hpp: the settings of a server or of clients, as OpenSSL wants them.
#pragma once

#include "openssl.hpp"
#include "session_cache.hpp"

#include <gyre/tls/client_config.hpp>
#include <gyre/tls/server_config.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gyre::tls {

/// Immutable after its construction, except for what OpenSSL locks itself. Thread: any.
class context {
 public:
  explicit context(const server_options& options);
  explicit context(const client_options& options);
  context& operator=(context&&) = delete;
  ~context() = default;

  /// A connection without input or output. `host` is the name that a client verifies; empty for a server.
  /// Errors: tls_error bad_configuration.
  [[nodiscard]] ssl_owner make_connection(const std::string& host) const;
  /// For a client, before the handshake: resumes a session with `origin` if there is one, and keeps those that come.
  /// Lifetime: `origin` must outlive the connection.
  void resume(SSL& connection, const std::string& origin) const;
  void add_reference() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Errors: std::bad_alloc.
  [[nodiscard]] std::vector<std::string> protocols() const;
  /// For a client with an identity: its other options.
  [[nodiscard]] const std::optional<client_options>& options_without_identity() const noexcept {
    return without_identity_;
  }
  [[nodiscard]] std::chrono::nanoseconds handshake_limit() const noexcept { return handshake_limit_; }

 private:
  struct server_name {
    x509_owner certificate;
    std::string ocsp_response;
    ssl_ctx_owner settings;
  };
  [[nodiscard]] static ssl_ctx_owner make_settings(bool server, version min_version);
  [[nodiscard]] ssl_ctx_owner settings_for(const certificate& own, const server_options& options);
  static void staple_with(SSL_CTX& settings, std::string& response);
  static int staple(SSL* connection, void* response) noexcept;
  static int keep_session(SSL* connection, SSL_SESSION* session) noexcept;
  static int make_ticket(SSL* connection, void* self) noexcept;
  static SSL_TICKET_RETURN accept_ticket(SSL* connection, SSL_SESSION* session, const unsigned char* key_name,
                                         std::size_t key_name_size, SSL_TICKET_STATUS status, void* self) noexcept;
  static int choose_certificate(SSL* connection, int* alert, void* self) noexcept;
  static int choose_protocol(SSL* connection, const unsigned char** chosen, unsigned char* size,
                             const unsigned char* offered, unsigned offered_size, void* self) noexcept;

  mutable std::atomic<int> references_ = 1;
  bool server_;
  bool verifies_ = false;
  std::string protocols_;  // each with its length before it: RFC 7301 §3.1
  std::chrono::nanoseconds handshake_limit_;
  std::chrono::seconds session_lifetime_;
  std::optional<ticket_keys> tickets_;  // of a server
  mutable session_cache sessions_;      // of a client
  std::optional<client_options> without_identity_;
  std::string ocsp_response_;  // of the first certificate
  ssl_ctx_owner settings_;
  std::vector<server_name> others_;
};

}  // namespace gyre::tls
