// src/tls/engine.hpp: the TLS protocol of one connection, without I/O.
#pragma once

#include "openssl.hpp"
#include "traffic_secret.hpp"

#include <gyre/io/buffer_lease.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
  engine& operator=(engine&&) = delete;
  ~engine() = default;

  [[nodiscard]] outcome handshake(input in, std::string& out);
  [[nodiscard]] outcome decrypt(std::span<std::byte> to, input in, std::string& out);
  /// True when decrypt() has something to tell without further input.
  [[nodiscard]] bool has_decrypted() const noexcept {
    return end_ || (may_be_pending_ && SSL_pending(connection_.get()) > 0);
  }
  /// True when decrypt() has told the end of the data.
  [[nodiscard]] bool has_ended() const noexcept { return end_ && end_->what == outcome::ended; }
  /// True when a record has begun to arrive.
  [[nodiscard]] bool has_part_of_record() const noexcept { return SSL_has_pending(connection_.get()) == 1; }
  /// Encrypts all: the first bytes of a connection in small records, the others in large ones.
  [[nodiscard]] outcome encrypt(std::span<const std::byte> from, std::string& out);
  /// Whether the two buffers of 16 KiB for records stay between calls. They do not by default.
  void keep_buffers(bool keep) noexcept;
  /// Appends close_notify.
  void say_goodbye(std::string& out);

  // ---- The kernel can go on with encrypting a server's data: first prepare_kernel(), then, when all has been sent,
  // ---- move_to_kernel().

  /// `last` is what encrypt() has appended last. False when the kernel does not offer it, cannot do it for this
  /// connection, or its keys would be wrong.
  [[nodiscard]] bool prepare_kernel(std::string_view last) noexcept;
  /// False when something was encrypted since then, or the kernel refuses. After a success, encrypt() appends the bytes
  /// as they are, and say_goodbye() appends nothing.
  [[nodiscard]] bool move_to_kernel(int socket) noexcept;
  [[nodiscard]] bool in_kernel() const noexcept { return in_kernel_; }
  /// For a line of the key log of any connection.
  static void note_secret(const SSL& connection, std::string_view line) noexcept;

  /// For SSL_CTX_set_verify.
  static int on_verified(int verified, X509_STORE_CTX* chain) noexcept;

  [[nodiscard]] SSL& connection() const noexcept { return *connection_; }
  [[nodiscard]] bool shook_hands() const noexcept { return shook_hands_; }

 private:
  static void on_message(int is_sent, int version, int type, const void* data, std::size_t size, SSL* connection,
                         void* self) noexcept;
  [[nodiscard]] outcome after(int result);
  [[nodiscard]] outcome decrypt_by_openssl(std::span<std::byte> to, input in, std::string& out);
  void note_message(bool is_sent, int type, std::string_view message) noexcept;
  void note_key_update() noexcept;
  [[nodiscard]] bool owes_key_update() const noexcept {
    return SSL_get_key_update_type(connection_.get()) != SSL_KEY_UPDATE_NONE;
  }

  ssl_owner connection_;
  std::size_t sent_in_small_records_ = 0;
  std::chrono::steady_clock::time_point key_updates_since_;
  int key_updates_ = 0;
  std::optional<outcome> end_;  // of what can be decrypted, or a failure
  bool shook_hands_ = false;    // OpenSSL forgets it after a failure
  bool got_http_ = false;       // instead of a record
  bool in_kernel_ = false;
  bool may_be_pending_ = false;  // the last record may have more bytes than were asked for
  std::string forged_;           // names the certificate with a wrong signature
  traffic_secret secret_;
  std::uint64_t proven_ = 0;  // the number of records for which the secret is proven; 0 for none
};

}  // namespace gyre::tls
