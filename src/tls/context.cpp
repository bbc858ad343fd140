// src/tls/context.cpp: certificates, verification, and the choices of a server (SNI, ALPN).
#include "context.hpp"
#include "engine.hpp"
#include "key_log.hpp"
#include "protocol_list.hpp"
#include "ticket_ring.hpp"

#include <gyre/io/printable.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

namespace gyre::tls {
namespace {

void use_certificate(SSL_CTX& settings, const certificate& own) {
  clear_openssl_errors();
  const bio_owner reader = reader_of(own.chain);
  const x509_owner leaf(PEM_read_bio_X509_AUX(reader.get(), nullptr, &no_passphrase, nullptr));
  if (!leaf) throw_bad_configuration("certificate", "");
  if (SSL_CTX_use_certificate(&settings, leaf.get()) != 1) throw_bad_configuration("certificate", "");
  for (;;) {
    x509_owner next(PEM_read_bio_X509(reader.get(), nullptr, &no_passphrase, nullptr));
    if (!next && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
      throw_bad_configuration("certificate", "");
    if (!next) break;
    if (SSL_CTX_add0_chain_cert(&settings, next.get()) != 1) throw_bad_configuration("certificate", "");
    (void)next.release();
  }
  ERR_clear_error();  // the end of the text is an error for OpenSSL
  const key_owner key = private_key(own.key);
  if (SSL_CTX_use_PrivateKey(&settings, key.get()) != 1 || SSL_CTX_check_private_key(&settings) != 1)
    throw_bad_configuration("certificate", "");
}

void free_all(STACK_OF(X509_INFO) * all) noexcept { sk_X509_INFO_pop_free(all, &X509_INFO_free); }

store_owner store_of(std::string_view pem) {
  clear_openssl_errors();
  store_owner store(X509_STORE_new());
  const bio_owner reader = reader_of(pem);
  const owned<STACK_OF(X509_INFO)*, &free_all> found(
      PEM_X509_INFO_read_bio(reader.get(), nullptr, &no_passphrase, nullptr));
  if (!store || !found) throw_bad_configuration("authorities", "");
  int certificates = 0;
  for (int i = 0; i < sk_X509_INFO_num(found.get()); ++i) {
    const X509_INFO& each = *sk_X509_INFO_value(found.get(), i);
    if (each.x509 != nullptr && X509_STORE_add_cert(store.get(), each.x509) != 1)
      throw_bad_configuration("authorities", "");
    if (each.x509 != nullptr) ++certificates;
    if (each.crl == nullptr) continue;
    if (X509_STORE_add_crl(store.get(), each.crl) != 1) throw_bad_configuration("revocation lists", "");
    X509_STORE_set_flags(store.get(), X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  }
  if (certificates == 0)
    throw tls_error(tls_errc::bad_configuration, "authorities", "", "the text holds no certificate");
  return store;
}

// Reading the system's authorities takes some 50 ms, so all clients share one store. OpenSSL locks it.
X509_STORE* store_of_system() {
  static const store_owner store = [] {
    store_owner made(X509_STORE_new());
    if (made) X509_STORE_set_default_paths(made.get());
    clear_openssl_errors();
    return made;
  }();
  if (!store) throw std::bad_alloc();
  return store.get();
}

// A session of a client that was verified by other rules, or not at all, is not resumed.
std::string id_of_rules(const server_options& options) {
  const std::string rules = std::to_string(static_cast<int>(options.clients)) + options.client_authorities;
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(rules.data()), rules.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

// The name to send and to verify: RFC 6066 §3 leaves the dot at the end of an absolute name out. OpenSSL would take a
// name with a dot in front for a whole domain, and would end one at a NUL.
std::string server_name_of(const std::string& host) {
  std::string_view name = host;
  if (name.ends_with('.')) name.remove_suffix(1);
  const bool has_other = std::ranges::any_of(name, [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  if (name.empty() || name.size() > 253 || name.starts_with('.') || name.find("..") != name.npos || has_other)
    throw tls_error(tls_errc::bad_configuration, "connect", printable(host), "this is not the name of a host");
  return std::string(name);
}

void warn_once() {
  static std::once_flag warned;
  std::call_once(warned, [] {
    print_diagnostic(
        {"gyre: TLS certificates are not verified (insecure_skip_verify): anybody on the way can read and change "
         "everything"});
  });
}

}  // namespace

// Works for both kinds of options.
const auto& checked_times(const auto& options) {
  if (options.handshake_limit < std::chrono::nanoseconds::zero())
    throw tls_error(tls_errc::bad_configuration, "tls", "", "handshake_limit is negative");
  if (options.session_lifetime < std::chrono::seconds::zero())
    throw tls_error(tls_errc::bad_configuration, "tls", "", "session_lifetime is negative");
  return options;
}

ssl_ctx_owner context::make_settings(bool server, version min_version) {
  clear_openssl_errors();
  ssl_ctx_owner made(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  if (!made) throw_bad_configuration("tls", "");
  SSL_CTX* const s = made.get();
  SSL_CTX_set_min_proto_version(s, static_cast<int>(min_version));
  SSL_CTX_set_options(
      s, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // An idle connection keeps no buffers of 16 KiB; see engine::keep_buffers().
  SSL_CTX_set_mode(s, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // With TLS 1.2, a server accepts only ciphers that authenticate what they encrypt, with keys of each connection. A
  // client has to take what old servers offer.
  if (server && (SSL_CTX_set_cipher_list(s, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
                 SSL_CTX_set1_groups_list(s, "X25519:P-256:P-384") != 1))
    throw_bad_configuration("ciphers", "");
  observe_secrets(*s, server);
  return made;
}

context::context(const server_options& options)
    : server_(true),
      protocols_(in_wire_format(options.protocols)),
      handshake_limit_(checked_times(options).handshake_limit),
      session_lifetime_(options.session_lifetime),
      tickets_(options.tickets) {
  if (options.certificates.empty())
    throw tls_error(tls_errc::bad_configuration, "server_config", "", "a server needs a certificate");
  settings_ = settings_for(options.certificates.front(), options);
  ocsp_response_ = options.certificates.front().ocsp_response;
  staple_with(*settings_, ocsp_response_);
  others_.reserve(options.certificates.size());  // OpenSSL keeps pointers to the responses
  for (const certificate& each : options.certificates) {
    others_.push_back({first_certificate(each.chain), each.ocsp_response, settings_for(each, options)});
    staple_with(*others_.back().settings, others_.back().ocsp_response);
  }
  SSL_CTX_set_tlsext_servername_callback(settings_.get(), &choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(settings_.get(), this);
}

ssl_ctx_owner context::settings_for(const certificate& own, const server_options& options) {
  ssl_ctx_owner made = make_settings(true, options.min_version);
  SSL_CTX* const s = made.get();
  use_certificate(*s, own);
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(s, &choose_protocol, this);
  const std::string id = id_of_rules(options);
  SSL_CTX_set_session_id_context(s, reinterpret_cast<const unsigned char*>(id.data()),
                                 static_cast<unsigned>(id.size()));
  ticket_keys::ring::attach(*s, options.tickets.shared());
  SSL_CTX_set_session_ticket_cb(s, &make_ticket, &accept_ticket, this);
  SSL_CTX_set_session_cache_mode(s, SSL_SESS_CACHE_OFF);  // tickets need none
  if (options.clients == client_certificates::none) return made;
  const int required = options.clients == client_certificates::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(s, SSL_VERIFY_PEER | required, &engine::on_verified);
  store_owner store = store_of(options.client_authorities);
  SSL_CTX_set_cert_store(s, store.release());
  return made;
}

context::context(const client_options& options)
    : server_(false),
      verifies_(!options.insecure_skip_verify),
      protocols_(in_wire_format(options.protocols)),
      handshake_limit_(checked_times(options).handshake_limit),
      session_lifetime_(options.session_lifetime),
      settings_(make_settings(false, options.min_version)) {
  SSL_CTX* const s = settings_.get();
  if (options.identity) {
    use_certificate(*s, *options.identity);
    without_identity_ = options;
    without_identity_->identity.reset();
  }
  if (options.authorities.empty()) {
    SSL_CTX_set1_cert_store(s, store_of_system());
  } else {
    store_owner store = store_of(options.authorities);
    SSL_CTX_set_cert_store(s, store.release());
  }
  if (!verifies_) warn_once();
  SSL_CTX_set_verify(s, verifies_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, &engine::on_verified);
  SSL_CTX_set_session_cache_mode(s, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(s, &keep_session);
  SSL_CTX_set_app_data(s, this);
  if (!protocols_.empty())
    SSL_CTX_set_alpn_protos(s, reinterpret_cast<const unsigned char*>(protocols_.data()),
                            static_cast<unsigned>(protocols_.size()));
}

ssl_owner context::make_connection(const std::string& host) const {
  clear_openssl_errors();
  ssl_owner made(SSL_new(settings_.get()));
  if (!made) throw_bad_configuration("tls", host);
  SSL* const s = made.get();
  if (server_) {
    SSL_set_accept_state(s);
    return made;
  }
  SSL_set_connect_state(s);
  const std::string name = server_name_of(host);
  if (is_ip_address(name)) {  // RFC 6066 §3: an address is no server name
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s), name.c_str()) != 1) throw_bad_configuration("connect", host);
    return made;
  }
  // RFC 9110 §4.3.4: the common name is not the name of a host.
  SSL_set_hostflags(s, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (SSL_set1_host(s, name.c_str()) != 1 || SSL_set_tlsext_host_name(s, name.c_str()) != 1)
    throw_bad_configuration("connect", host);
  return made;
}

void context::staple_with(SSL_CTX& settings, std::string& response) {
  if (response.empty()) return;
  SSL_CTX_set_tlsext_status_cb(&settings, &staple);
  SSL_CTX_set_tlsext_status_arg(&settings, &response);
}

int context::staple(SSL* connection, void* response) noexcept {
  const std::string& text = *static_cast<const std::string*>(response);
  void* const copy = OPENSSL_memdup(text.data(), text.size());  // OpenSSL frees it
  if (copy == nullptr) return SSL_TLSEXT_ERR_NOACK;
  SSL_set_tlsext_status_ocsp_resp(connection, copy, static_cast<long>(text.size()));
  return SSL_TLSEXT_ERR_OK;
}

int context::choose_certificate(SSL* connection, int* /*alert*/, void* self) noexcept {
  const char* const name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
  for (const server_name& each : static_cast<const context*>(self)->others_) {
    if (X509_check_host(each.certificate.get(), name, 0, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) != 1) continue;
    SSL_set_SSL_CTX(connection, each.settings.get());
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_OK;  // the first certificate; the client decides what to think of it
}

// The first of the server's protocols that the client offers. RFC 7301 §3.2: without one, the connection fails.
int context::choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* size,
                             const unsigned char* offered, unsigned offered_size, void* self) noexcept {
  const std::string& ours = static_cast<const context*>(self)->protocols_;
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(ours.data()),
                                            static_cast<unsigned>(ours.size()), offered, offered_size);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

std::vector<std::string> context::protocols() const { return from_wire_format(protocols_); }
context_reference::context_reference(const context_reference& other) noexcept : context_(other.context_) {
  if (context_ != nullptr) context_->add_reference();
}
context_reference::~context_reference() {
  if (context_ != nullptr) context_->release();
}

server_config::server_config(const server_options& options) : context_(*new context(options)) {}
std::vector<std::string> server_config::protocols() const { return context_->protocols(); }
client_config::client_config(const client_options& options) : context_(*new context(options)) {}

bool client_config::has_identity() const noexcept { return context_->options_without_identity().has_value(); }

client_config client_config::without_identity() const {
  const auto& options = context_->options_without_identity();
  return options.has_value() ? client_config(*options) : *this;
}

}  // namespace gyre::tls
