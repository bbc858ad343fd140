// src/tls/context_sessions.cpp: the sessions that clients keep, and the tickets that servers make and accept.
#include "context.hpp"
#include "session_age.hpp"

#include <new>
#include <utility>

namespace gyre::tls {

void context::resume(SSL& connection, const std::string& origin) const {
  SSL_set_app_data(&connection, const_cast<std::string*>(&origin));
  if (const session_owner known = sessions_.take(origin, session_lifetime_)) SSL_set_session(&connection, known.get());
}

// Takes over the session.
int context::keep_session(SSL* connection, SSL_SESSION* session) noexcept {
  const auto* const origin = static_cast<const std::string*>(SSL_get_app_data(connection));
  const auto* const self = static_cast<const context*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  if (origin == nullptr || self == nullptr) return 0;
  session_owner taken(session);
  if (!note_age(*connection, *session)) return 1;  // the next connection does a full handshake
  try {
    self->sessions_.add(*origin, std::move(taken));
  } catch (const std::bad_alloc&) {  // it is freed, and the next connection does a full handshake
  }
  return 1;
}

int context::make_ticket(SSL* connection, void* /*self*/) noexcept {
  (void)note_age(*connection, *SSL_get_session(connection));  // a ticket without a note is not accepted
  return 1;
}

SSL_TICKET_RETURN context::accept_ticket(SSL* /*connection*/, SSL_SESSION* session, const unsigned char* /*key_name*/,
                                         std::size_t /*key_name_size*/, SSL_TICKET_STATUS status, void* self) noexcept {
  const bool is_good = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
  if (!is_good || !is_fresh(*session, static_cast<const context*>(self)->session_lifetime_))
    return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

}  // namespace gyre::tls
