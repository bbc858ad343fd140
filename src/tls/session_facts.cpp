// src/tls/session_facts.cpp: what the peers of a connection have agreed upon.
#include "session_facts.hpp"

namespace gyre::tls {

std::string text_of(const X509_NAME* name) {
  const bio_owner memory(BIO_new(BIO_s_mem()));
  if (!memory || X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string subject_of_peer(SSL& connection) {
  const x509_owner peer(SSL_get1_peer_certificate(&connection));
  return peer ? text_of(X509_get_subject_name(peer.get())) : std::string();
}

std::string_view name_asked_for(SSL& connection) noexcept {
  const char* const name = SSL_get_servername(&connection, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string_view() : name;
}

std::string_view protocol_of(SSL& connection) noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(&connection, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

}  // namespace gyre::tls
