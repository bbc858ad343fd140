// src/tls/engine.cpp: calls OpenSSL, and turns its results into outcomes.
#include "engine.hpp"

#include "cipher_io.hpp"

#include <openssl/err.h>

namespace gyre::tls {
namespace {

bool is_about_own_certificate(int reason) noexcept {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

tls_errc error_of(int reason, bool in_handshake) noexcept {
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return tls_errc::certificate_rejected;
  if (is_about_own_certificate(reason)) return tls_errc::peer_rejected;
  if (in_handshake) return tls_errc::handshake_failed;
  return reason == SSL_R_UNEXPECTED_EOF_WHILE_READING ? tls_errc::truncated : tls_errc::bad_record;
}

}  // namespace

engine::engine(ssl_owner connection) : connection_(std::move(connection)) { cipher_io::attach(*connection_); }

engine::outcome engine::handshake(input in, std::string& out) {
  const cipher_io io(in.bytes, in.ended, out);
  ERR_clear_error();
  outcome result = after(SSL_do_handshake(connection_.get()));
  shook_hands_ = result.what == outcome::done;
  return result;
}

engine::outcome engine::decrypt(std::span<std::byte> to, input in, std::string& out) {
  const cipher_io io(in.bytes, in.ended, out);
  ERR_clear_error();
  std::size_t count = 0;
  outcome result = after(SSL_read_ex(connection_.get(), to.data(), to.size(), &count));
  result.count = count;
  return result;
}

engine::outcome engine::encrypt(std::span<const std::byte> from, std::string& out) {
  buffer_lease nothing;
  const cipher_io io(nothing, false, out);
  ERR_clear_error();
  std::size_t count = 0;
  outcome result = after(SSL_write_ex(connection_.get(), from.data(), from.size(), &count));
  result.count = count;
  return result;
}

void engine::say_goodbye(std::string& out) {
  buffer_lease nothing;
  const cipher_io io(nothing, false, out);
  ERR_clear_error();
  (void)SSL_shutdown(connection_.get());
  ERR_clear_error();
}

engine::outcome engine::after(int result) {
  if (result > 0) return {};
  switch (SSL_get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.what = outcome::wants_input};
    case SSL_ERROR_ZERO_RETURN:
      return {.what = outcome::ended};
    default:
      break;
  }
  const int reason = ERR_GET_REASON(ERR_peek_error());
  outcome failure{.what = outcome::failed, .error = error_of(reason, !shook_hands_)};
  failure.reason = take_openssl_error();
  if (failure.error == tls_errc::certificate_rejected)
    failure.reason = X509_verify_cert_error_string(SSL_get_verify_result(connection_.get()));
  if (failure.error == tls_errc::truncated) failure.reason.clear();  // the text of the code says it
  return failure;
}

}  // namespace gyre::tls
