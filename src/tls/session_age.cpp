// src/tls/session_age.cpp: how long a session may be resumed. A session carries its note as the application's data of a
// ticket, which OpenSSL copies into the sessions and tickets that continue it.
#include "session_age.hpp"

#include <openssl/x509_vfy.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>

namespace gyre::tls {
namespace {

struct note {
  std::int64_t verified_at;
  std::int64_t good_until;
};

constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

std::int64_t end_of_chain(const SSL& connection) noexcept {
  std::int64_t end = for_ever;
  const STACK_OF(X509)* const chain = SSL_get0_verified_chain(&connection);
  for (int i = 0; i < sk_X509_num(chain); ++i)
    end = std::min(end, seconds_of(X509_get0_notAfter(sk_X509_value(chain, i))).value_or(for_ever));
  return end;
}

std::int64_t end_of_lists(const SSL& connection) noexcept {
  std::int64_t end = for_ever;
  X509_STORE* const store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(&connection));
  if ((X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store)) & X509_V_FLAG_CRL_CHECK) == 0) return end;
  X509_STORE_lock(store);  // others may add what they have found in a directory
  const STACK_OF(X509_OBJECT)* const all = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(all); ++i)
    if (const X509_CRL* const list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, i)); list != nullptr)
      end = std::min(end, seconds_of(X509_CRL_get0_nextUpdate(list)).value_or(for_ever));
  X509_STORE_unlock(store);
  return end;
}

const note* note_of(SSL_SESSION& session) noexcept {
  void* data = nullptr;
  std::size_t size = 0;
  if (SSL_SESSION_get0_ticket_appdata(&session, &data, &size) != 1 || size != sizeof(note)) return nullptr;
  return static_cast<const note*>(data);
}

}  // namespace

bool note_age(SSL& connection, SSL_SESSION& session) noexcept {
  if (note_of(session) != nullptr) return true;
  const bool verifies = SSL_get_verify_mode(&connection) != SSL_VERIFY_NONE;
  const bool has_chain = SSL_get0_verified_chain(&connection) != nullptr;
  const note made{
      .verified_at = std::time(nullptr),
      .good_until = verifies && has_chain ? std::min(end_of_chain(connection), end_of_lists(connection)) : for_ever};
  return SSL_SESSION_set1_ticket_appdata(&session, &made, sizeof(made)) == 1;
}

bool is_fresh(SSL_SESSION& session, std::chrono::seconds lifetime) noexcept {
  const note* const found = note_of(session);
  if (found == nullptr) return false;
  note known{};
  std::memcpy(&known, found, sizeof(known));
  const std::int64_t now = std::time(nullptr);
  const std::int64_t age = now - known.verified_at;  // negative when the clock was set back
  return age >= 0 && age < lifetime.count() && now < known.good_until;
}

}  // namespace gyre::tls
