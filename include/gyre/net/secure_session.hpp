// gyre/net/secure_session.hpp: the encryption of a connection as a server needs it, whatever the protocol (TLS).
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/buffer_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gyre {

/// One encrypted connection, without I/O. Its user sends what the functions append to `out`, in that order, also after
/// a failure. For authors of servers; see http::server_options::security.
///
/// Thread: that of the connection.
class GYRE_API secure_session {
 public:
  enum class state : std::uint8_t {
    bytes,        ///< there are decrypted bytes
    wants_input,  ///< all input is used up
    ended,        ///< the peer has ended its data in order
    failed,       ///< nothing more can be received; see failure()
  };
  struct progress {
    state what = state::wants_input;
    std::size_t count = 0;  ///< decrypted bytes
  };

  secure_session() = default;
  secure_session& operator=(secure_session&&) = delete;
  virtual ~secure_session() = default;

  /// Goes on with the handshake while there is one, then decrypts as much as fits into `to`. Consumes from `in`.
  /// `in_is_last` means that the peer sends nothing after `in`. Errors: std::bad_alloc.
  virtual progress decrypt(buffer_lease& in, bool in_is_last, std::span<std::byte> to, std::string& out) = 0;
  /// Encrypts all. Returns false when the session has failed. Errors: std::bad_alloc.
  virtual bool encrypt(std::span<const std::byte> bytes, std::string& out) = 0;
  /// Tells the peer that no more data follows. Idempotent. Errors: none; without memory, nothing is said.
  virtual void finish(std::string& out) noexcept = 0;

  /// True until the peers have agreed. No data may be encrypted before.
  [[nodiscard]] virtual bool in_handshake() const noexcept = 0;
  /// True when decrypt() may return bytes without further input.
  [[nodiscard]] virtual bool has_decrypted() const noexcept = 0;
  /// The verified name of the peer's certificate, "CN=client 7"; empty when it has none.
  [[nodiscard]] virtual std::string peer_name() const = 0;
  /// The host that the peer has asked for; empty when it has named none.
  [[nodiscard]] virtual std::string_view server_name() const noexcept = 0;
  /// The protocol on top that the peers have agreed upon, "http/1.1"; empty when there is none.
  [[nodiscard]] virtual std::string_view protocol() const noexcept = 0;
  /// Why the session has failed, for people.
  [[nodiscard]] virtual std::string failure() const = 0;
};

/// Makes the sessions of a server's connections. Thread: any, also at the same time.
class GYRE_API secure_sessions {
 public:
  secure_sessions() = default;
  secure_sessions& operator=(secure_sessions&&) = delete;
  virtual ~secure_sessions() = default;
  /// Errors: those of the protocol; std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<secure_session> begin() = 0;
};

}  // namespace gyre
