// gyre/net/secure_session.hpp: the encryption of a connection as a server needs it, whatever the protocol (TLS).
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/io/buffer_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre {

/// One encrypted connection, without I/O. Its user sends what the functions append to `out`, in that order, also after
/// a failure. For authors of servers; see http::server_options::encryption.
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

  /// True when the kernel could go on with encrypting what is sent (kTLS). `last` is what encrypt() has appended last.
  virtual bool prepare_kernel(std::string_view /*last*/) noexcept { return false; }
  /// After prepare_kernel(), when all has been sent: from now on, the kernel encrypts what is sent over `socket`, files
  /// included. Then encrypt() appends the bytes as they are, and finish() appends nothing: the end is
  /// say_goodbye_in_kernel(). Returns false when the session has to go on as before.
  virtual bool move_to_kernel(int /*socket*/) noexcept { return false; }

  /// A busy connection keeps the buffers that decrypt() and encrypt() need. An idle one has none: the default.
  virtual void keep_buffers(bool /*keep*/) noexcept {}

  /// True until the peers have agreed. No data may be encrypted before.
  [[nodiscard]] virtual bool in_handshake() const noexcept = 0;
  /// True when decrypt() has bytes, or an end or failure to tell, without further input.
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

using secure_session_owner = owned<secure_session*, delete_target>;

/// Makes the sessions of a server's connections. Counted: see security. Thread: any, also at the same time.
class GYRE_API secure_sessions {
 public:
  secure_sessions() = default;
  secure_sessions& operator=(secure_sessions&&) = delete;
  /// Errors: same as the protocol; std::bad_alloc.
  [[nodiscard]] virtual secure_session_owner begin() = 0;
  /// Called by the server that uses the sessions, with the protocols on top that it speaks. From now on the sessions
  /// offer no other protocol. Lifetime: `spoken` is static. Errors: std::invalid_argument when they offer another one.
  virtual void expect_protocols(std::span<const std::string_view> /*spoken*/) {}
  virtual void add_reference() noexcept = 0;
  virtual void release() noexcept = 0;

 protected:
  ~secure_sessions() = default;
};

/// How a server encrypts its connections. Copies refer to the same. Without sessions it does not encrypt.
/// Thread: any, also at the same time.
class security {
 public:
  security() noexcept = default;
  /// Takes over one reference.
  explicit security(secure_sessions& counted) noexcept : sessions_(&counted) {}
  security(const security& other) noexcept : sessions_(other.sessions_) {
    if (sessions_ != nullptr) sessions_->add_reference();
  }
  security(security&& other) noexcept : sessions_(std::exchange(other.sessions_, nullptr)) {}
  security& operator=(security other) noexcept {
    std::swap(sessions_, other.sessions_);
    return *this;
  }
  ~security() {
    if (sessions_ != nullptr) sessions_->release();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return sessions_ != nullptr; }
  [[nodiscard]] secure_sessions* operator->() const noexcept { return sessions_; }

 private:
  secure_sessions* sessions_ = nullptr;
};

}  // namespace gyre
