// src/tls/engine.hpp: the TLS protocol of one connection, without I/O.
#pragma once

#include "openssl.hpp"

#include <gyre/io/buffer_lease.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace gyre::tls {

/// Each function consumes encrypted bytes from `in`, and appends encrypted bytes to `out`, which are to be sent in this
/// order, also when the function fails (an alert).
class engine {
 public:
  struct outcome {
    enum kind : unsigned char { done, wants_input, ended, failed };
    kind what = done;
    std::size_t count = 0;         ///< bytes that were decrypted or encrypted
    tls_errc error = tls_errc{0};  ///< when it has failed
    std::string reason = {};
  };
  struct input {
    buffer_lease& bytes;
    bool ended;  ///< nothing comes after `bytes`
  };

  explicit engine(ssl_owner connection);

  [[nodiscard]] outcome handshake(input in, std::string& out);
  [[nodiscard]] outcome decrypt(std::span<std::byte> to, input in, std::string& out);
  /// Encrypts at most one record, from bytes that are not empty.
  [[nodiscard]] outcome encrypt(std::span<const std::byte> from, std::string& out);
  /// Appends close_notify.
  void say_goodbye(std::string& out);
  [[nodiscard]] SSL& connection() const noexcept { return *connection_; }

 private:
  [[nodiscard]] outcome after(int result);
  bool shook_hands_ = false;  // OpenSSL forgets it after a failure
  ssl_owner connection_;
};

}  // namespace gyre::tls
