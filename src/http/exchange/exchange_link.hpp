// src/http/exchange/exchange_link.hpp: the interface of the protocol that carries an exchange.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/net/secure_session.hpp>

#include <span>

namespace gyre::http {

/// The side of a request that its protocol knows: a connection of HTTP/1, or a stream of HTTP/2. The body is a
/// body_source of its own.
class exchange_link {
 public:
  /// Sends an interim response. Status 100 asks a client that waits for it to send the body. Returns false when that is
  /// not possible: the response has begun, the client does not know interim responses, or the connection is broken.
  /// Several tasks may call it at the same time.
  ///
  /// Lifetime: `fields`, which have been checked, stay valid until the await returns. Cancel: it may be sent in part;
  /// nothing can be sent after it. Errors: std::bad_alloc.
  virtual task<bool> send_interim(int status, std::span<const field> fields) = 0;
  /// The encryption of the connection, or null.
  [[nodiscard]] virtual const secure_session* security() const noexcept = 0;

 protected:
  ~exchange_link() = default;
};

}  // namespace gyre::http
