// src/http/server/encrypted_connection.cpp: handshakes and records of a connection over a socket that is encrypted.
#include "socket_activity.hpp"
#include "socket_connection.hpp"

#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace gyre::http {

// As serve_received(). A handshake waits for its turn.
void socket_connection::serve_encrypted() noexcept {
  innermost = nullptr;
  if (!encryption_->carrier.in_handshake()) return serve_arrived_encrypted();
  if (encryption_->given_up || !peer_.socket().received.has_bytes()) return end_connection(nullptr);
  server_.encryption.handshakes.add(*encryption_, server_.app.options.limits.handshakes);
  server_.encryption.handshakes.wait_for_turn(*encryption_);
}

void socket_connection::serve_arrived_encrypted() noexcept {
  loop().set_running_task(this);
  socket_state& socket = peer_.socket();
  secure_transport& carrier = encryption_->carrier;
  do {
    const bool in_handshake = carrier.in_handshake();
    auto arrival = secure_transport::arrival::ended;
    try {
      buffer_lease received;
      if (!carrier.has_buffered() && socket.received.has_bytes()) {
        received = socket.received.take();
        socket.reader_took();
      }
      if (carrier.has_buffered() || !received.empty()) arrival = carrier.arrived(std::move(received));
      if (in_handshake && !carrier.in_handshake()) {
        server_.encryption.handshakes.remove(*encryption_);
        limit_.came_request();
        encryption_->protocol = chosen_protocol(carrier.security());
      }
      const bool given_up = encryption_->given_up && carrier.in_handshake();  // one that has ended costs nothing more
      if (arrival == secure_transport::arrival::ended || given_up) return end_connection(nullptr);
      if (arrival == secure_transport::arrival::bytes) server_.encryption.busy_sessions.note_use(*encryption_);
      if (arrival == secure_transport::arrival::bytes || carrier.has_unsent()) {
        activity_ = new activity(*this);
        if (arrival == secure_transport::arrival::nothing) return run(send_rest(*encryption_, activity_->goes_on));
        if (!activity_->client.serve_at_once(carrier.decrypted()))
          return run(activity_->client.serve_rest(activity_->goes_on));
      }
    } catch (...) {  // no memory, or no certificate
      return end_connection(std::current_exception());
    }
    std::uint64_t requests = requests_;
    if (activity_ != nullptr) {
      requests = activity_->client.requests();
      delete std::exchange(activity_, nullptr);
    }
    const bool only_handshake = in_handshake && requests == requests_;  // a request may come with its last bytes
    if (!only_handshake && !may_go_on(requests)) return end_connection(nullptr);
  } while (!begin_idling());
}

// Bytes of the protocol that the socket has not taken at once.
task<> socket_connection::send_rest(encryption& of, bool& goes_on) {
  const std::error_code sent = co_await of.carrier.write({}, {}, of.connection.server_.app.options.timeouts.write);
  goes_on = !sent;
}

// The connection ends, and nothing has been reported yet.
void socket_connection::report_failed_handshake() noexcept {
  handshake_observer* const observer = server_.app.options.failed_handshakes;
  const secure_transport& carrier = encryption_->carrier;
  if (observer == nullptr || !carrier.in_handshake()) return;
  const address& client = peer_.socket().peer;
  try {
    if (const std::string said = carrier.failure(); !said.empty())
      return observer->handshake_failed({.peer = client, .reason = said});
  } catch (...) {  // no memory
    return observer->handshake_failed({.peer = client, .reason = "no memory"});
  }
  if (encryption_->given_up)
    return observer->handshake_failed(
        {.peer = client, .reason = "given up for newer ones, because of limits.handshakes"});
  if (cancel_pending || server_.app.draining) return;
  if (loop().now() >= limit_.until())
    return observer->handshake_failed({.peer = client, .reason = "the handshake took too long"});
  if (carrier.has_begun()) observer->handshake_failed({.peer = client, .reason = "the client closed the connection"});
}

}  // namespace gyre::http
