// src/tls/engine.cpp: calls OpenSSL, and turns its results into outcomes.
#include "engine.hpp"

#include "cipher_io.hpp"
#include "session_facts.hpp"

#include <gyre/loop/deadline.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <array>

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

// A small record can be decrypted as soon as its one packet has arrived. The peer of a new connection, whose window is
// small, gains from that; a large transfer does not.
constexpr std::size_t small_record = 1350;
constexpr std::size_t in_small_records = std::size_t{64} << 10U;
constexpr std::size_t max_record_size = std::size_t{16} << 10U;

// A KeyUpdate costs its receiver more than its sender, and peers that are honest send one after millions of records.
constexpr int max_key_updates = 32;
constexpr std::chrono::seconds within(10);

// The first bytes of a request, as many as the header of a record has. OpenSSL knows some of these methods.
bool is_http(std::string_view header) noexcept {
  constexpr std::array<std::string_view, 10> beginnings{"GET ",  "HEAD ", "POST ", "PUT ",  "DELET",
                                                        "CONNE", "OPTIO", "PATCH", "TRACE", "PRI *"};
  return std::ranges::any_of(beginnings, [header](std::string_view each) { return header.starts_with(each); });
}

tls_errc error_of(int reason, bool in_handshake) noexcept {
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return tls_errc::certificate_rejected;
  if (is_about_own_certificate(reason)) return tls_errc::peer_rejected;
  if (in_handshake) return tls_errc::handshake_failed;
  return reason == SSL_R_UNEXPECTED_EOF_WHILE_READING ? tls_errc::truncated : tls_errc::bad_record;
}

int index_of_engine() noexcept {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

engine::engine(ssl_owner connection) : connection_(std::move(connection)) {
  cipher_io::attach(*connection_);
  SSL_set_msg_callback(connection_.get(), &on_message);
  SSL_set_msg_callback_arg(connection_.get(), this);
  SSL_set_ex_data(connection_.get(), index_of_engine(), this);
}

void engine::on_message(int is_sent, int /*version*/, int type, const void* data, std::size_t size, SSL* /*connection*/,
                        void* self) noexcept {
  if (size > 0) static_cast<engine*>(self)->note_message(is_sent != 0, type, {static_cast<const char*>(data), size});
}

// The message comes after the records that carry it. A server's records have their last keys from its Finished on, and
// until a KeyUpdate.
void engine::note_message(bool is_sent, int type, std::string_view message) noexcept {
  if (is_sent && type == SSL3_RT_HEADER) secret_.note_record();
  if (!is_sent && type == SSL3_RT_HEADER && !shook_hands_) got_http_ = is_http(message);
  if (type != SSL3_RT_HANDSHAKE) return;
  const auto first = static_cast<unsigned char>(message.front());
  if (is_sent && first == SSL3_MT_FINISHED) secret_.start_counting();
  if (is_sent && first == SSL3_MT_KEY_UPDATE) secret_.forget();
  if (!is_sent && first == SSL3_MT_KEY_UPDATE) note_key_update();
}

void engine::note_secret(const SSL& connection, std::string_view line) noexcept {
  auto* const self = static_cast<engine*>(SSL_get_ex_data(&connection, index_of_engine()));
  if (self != nullptr && SSL_is_server(&connection) == 1) self->secret_.take_from(line);
}

int engine::on_verified(int verified, X509_STORE_CTX* chain) noexcept {
  if (verified == 1) return verified;
  const int error = X509_STORE_CTX_get_error(chain);
  if (error == X509_V_ERR_UNABLE_TO_GET_CRL) {  // without a configured CRL: not revoked
    X509_STORE_CTX_set_error(chain, X509_V_OK);
    return 1;
  }
  if (error != X509_V_ERR_CERT_SIGNATURE_FAILURE) return verified;
  // OpenSSL's reason does not tell which certificate of the chain has the wrong signature.
  const auto* const connection =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const self = static_cast<engine*>(SSL_get_ex_data(connection, index_of_engine()));
  try {
    const X509& forged = *X509_STORE_CTX_get_current_cert(chain);
    self->forged_ = ": " + text_of(X509_get_subject_name(&forged)) + " is not signed by the " +
                    text_of(X509_get_issuer_name(&forged)) + " that is trusted";
  } catch (...) {  // no memory: the reason remains
  }
  return verified;
}

bool engine::prepare_kernel(std::string_view last) noexcept {
  if (in_kernel_ || end_) return false;
  clear_openssl_errors();
  proven_ = secret_.is_proven_by(last, *connection_) ? secret_.records() : 0;
  clear_openssl_errors();
  return proven_ > 0;
}

bool engine::move_to_kernel(int socket) noexcept {
  if (proven_ == 0 || proven_ != secret_.records() || owes_key_update() || end_) return false;
  kernel_cipher cipher = secret_.keys(*connection_);
  // Only AES was measured. The kernel setting is initialized, because every server context reads it.
  const bool wanted = cipher.with != kernel_cipher::algorithm::chacha20_poly1305 || kernel_encryption().any_cipher;
  in_kernel_ = wanted && encrypt_in_kernel(socket, cipher) == 0;
  OPENSSL_cleanse(cipher.key.data(), cipher.key.size());
  if (in_kernel_) secret_.forget();
  return in_kernel_;
}

void engine::note_key_update() noexcept {
  const auto now = gyre::now();
  if (key_updates_ == 0 || now - key_updates_since_ > within) {
    key_updates_since_ = now;
    key_updates_ = 0;
  }
  ++key_updates_;
}

engine::outcome engine::handshake(input in, std::string& out) {
  const cipher_io io(in.bytes, in.ended, out);
  clear_openssl_errors();
  outcome result = after(SSL_do_handshake(connection_.get()));
  shook_hands_ = result.what == outcome::done;
  return result;
}

// OpenSSL's records would be wrong when the kernel makes them. It has one to send for an alert, and for a peer that
// demands new keys, which the kernel cannot change. In that case it waits until something is written.
engine::outcome engine::decrypt(std::span<std::byte> to, input in, std::string& out) {
  if (end_) return *end_;
  if (!in_kernel_) return decrypt_by_openssl(to, in, out);
  std::string answer;
  outcome result = decrypt_by_openssl(to, in, answer);
  if (end_ || (answer.empty() && !owes_key_update())) return result;
  end_ = {.what = outcome::failed, .error = tls_errc::bad_record, .reason = "the kernel cannot change the keys"};
  return result.count > 0 ? result : *end_;
}

engine::outcome engine::decrypt_by_openssl(std::span<std::byte> to, input in, std::string& out) {
  const cipher_io io(in.bytes, in.ended, out);
  clear_openssl_errors();
  std::size_t count = 0;
  while (count < to.size()) {
    std::size_t size = 0;
    const int read = SSL_read_ex(connection_.get(), to.data() + count, to.size() - count, &size);
    if (key_updates_ > max_key_updates) {
      end_ = {.what = outcome::failed, .error = tls_errc::bad_record, .reason = "too many KeyUpdates"};
      return *end_;
    }
    if (read <= 0) {
      outcome stop = after(read);
      if (stop.what != outcome::wants_input) end_ = stop;  // OpenSSL would not tell the reason again
      if (count == 0) return stop;
      break;
    }
    may_be_pending_ = size == to.size() - count;
    count += size;
    if (in.bytes.empty() && !has_decrypted()) break;  // OpenSSL would find that out slowly
  }
  return {.count = count};
}

engine::outcome engine::encrypt(std::span<const std::byte> from, std::string& out) {
  if (in_kernel_) {
    out.append(reinterpret_cast<const char*>(from.data()), from.size());
    return {.count = from.size()};
  }
  buffer_lease nothing;
  const cipher_io io(nothing, false, out);
  clear_openssl_errors();
  outcome all;
  while (all.count < from.size()) {
    const bool small = sent_in_small_records_ < in_small_records;
    const std::size_t size = std::min(small ? small_record : max_record_size, from.size() - all.count);
    std::size_t count = 0;
    const int result = SSL_write_ex(connection_.get(), from.data() + all.count, size, &count);
    if (result <= 0) return after(result);
    if (small) sent_in_small_records_ += count;
    all.count += count;
  }
  return all;
}

void engine::keep_buffers(bool keep) noexcept {
  if (keep) {
    SSL_clear_mode(connection_.get(), SSL_MODE_RELEASE_BUFFERS);
    return;
  }
  SSL_set_mode(connection_.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_free_buffers(connection_.get());
}

void engine::say_goodbye(std::string& out) {
  if (in_kernel_) return;
  buffer_lease nothing;
  const cipher_io io(nothing, false, out);
  clear_openssl_errors();
  (void)SSL_shutdown(connection_.get());
  clear_openssl_errors();
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
  // Where a signature is wrong, errors of other parts of OpenSSL come before this one.
  const bool rejected = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED;
  const int reason = rejected ? SSL_R_CERTIFICATE_VERIFY_FAILED : ERR_GET_REASON(ERR_peek_error());
  outcome failure{.what = outcome::failed, .error = error_of(reason, !shook_hands_)};
  failure.reason = take_openssl_error();
  if (got_http_) failure.reason = "the client spoke HTTP without TLS";
  if (failure.error == tls_errc::certificate_rejected)
    failure.reason = X509_verify_cert_error_string(SSL_get_verify_result(connection_.get())) + forged_;
  if (failure.error == tls_errc::truncated) failure.reason.clear();  // the text of the code says it
  return failure;
}

}  // namespace gyre::tls
