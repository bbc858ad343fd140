// gyre/net/kernel_encryption.hpp: TLS records that the kernel makes (kTLS). For authors of servers.
#pragma once

#include <gyre/attributes.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace gyre {

/// The state of the sending half of a TLS 1.3 connection, by which the kernel can go on. See RFC 8446 §5.2 and §5.3.
struct kernel_cipher {
  enum class algorithm : std::uint8_t { none, aes_128_gcm, aes_256_gcm, chacha20_poly1305 };

  algorithm with = algorithm::none;
  std::array<unsigned char, 32> key = {};  ///< of aes_128_gcm the first 16 bytes
  std::array<unsigned char, 12> iv = {};
  std::uint64_t record = 0;  ///< the number of the next record
};

/// Whether servers let the kernel encrypt large files.
struct kernel_encryption_choice {
  bool used = false;
  bool any_cipher = false;  ///< otherwise AES-GCM only
  std::string reason = {};  ///< "not used: this kernel has no module \"tls\""
};

/// Tries it with a connection of its own, once per process. The kernel is used when it can encrypt and has AES for this
/// processor. GYRE_KERNEL_TLS in the environment overrides that: "off", or "on" for any cipher. Thread: any.
/// Errors: std::invalid_argument for another value of GYRE_KERNEL_TLS; std::bad_alloc.
[[nodiscard]] GYRE_API const kernel_encryption_choice& kernel_encryption();

/// From now on, the kernel encrypts what is sent over `socket`, a connected TCP socket, by any call, sendfile(2)
/// included. Receiving stays as it is. All earlier records must have been sent. Returns 0, or an errno, after
/// which the socket works as before. Thread: that of the socket.
[[nodiscard]] GYRE_API int encrypt_in_kernel(int socket, const kernel_cipher& cipher) noexcept;

/// Sends close_notify (RFC 8446 §6.1) over a socket that the kernel encrypts. Returns 0, or an errno: EAGAIN until the
/// socket has room. Thread: that of the socket.
[[nodiscard]] GYRE_API int say_goodbye_in_kernel(int socket) noexcept;

}  // namespace gyre
