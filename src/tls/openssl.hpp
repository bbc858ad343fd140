// src/tls/openssl.hpp: owners of OpenSSL's objects, and its errors. OpenSSL keeps the errors of a thread in a queue:
// clear it before a call, and read it before the next await.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/tls/tls_error.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::tls {

/// Otherwise OpenSSL would forbid to resume the session of a connection that ends without close_notify.
inline void free_connection(SSL* connection) noexcept {
  SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(connection);
}

using ssl_owner = owned<SSL*, &free_connection>;
using ssl_ctx_owner = owned<SSL_CTX*, &SSL_CTX_free>;
using bio_owner = owned<BIO*, &BIO_free>;
using key_owner = owned<EVP_PKEY*, &EVP_PKEY_free>;
using x509_owner = owned<X509*, &X509_free>;
using store_owner = owned<X509_STORE*, &X509_STORE_free>;

/// To be called before a call of OpenSSL: the queue is nearly always empty, and clearing it is slower than to look.
inline void clear_openssl_errors() noexcept {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

/// Takes the reason of the first error in the queue of this thread, and clears it: "no shared cipher". Empty when there
/// is none.
[[nodiscard]] std::string take_openssl_error();

/// Throws tls_error bad_configuration with the first error in the queue.
[[noreturn]] void throw_bad_configuration(std::string_view operation, std::string_view object);

/// For every function that reads PEM text. Without it, OpenSSL asks for a pass phrase on the terminal, and waits.
[[nodiscard]] int no_passphrase(char* buffer, int size, int rwflag, void* data) noexcept;

/// A BIO that reads `text`, which must outlive it. Errors: std::bad_alloc.
[[nodiscard]] bio_owner reader_of(std::string_view text);

/// The certificate and the key of a PEM text. Errors: tls_error bad_configuration.
[[nodiscard]] x509_owner first_certificate(std::string_view pem);
[[nodiscard]] key_owner private_key(std::string_view pem);

/// Units: seconds since 1970. Nothing for a malformed time.
[[nodiscard]] std::optional<std::int64_t> seconds_of(const ASN1_TIME* time) noexcept;

/// Whether a peer is named by an address rather than a host name.
[[nodiscard]] bool is_ip_address(const std::string& host) noexcept;

}  // namespace gyre::tls
