// src/net/kernel_encryption.cpp: Documentation/networking/tls.rst of the kernel, as calls.
#include <gyre/net/kernel_encryption.hpp>

#include "kernel_ciphers.hpp"

#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/printable.hpp>

#include <linux/tcp.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gyre {
namespace {

constexpr int tls_level = 282;  // SOL_TLS, which the C library does not define
constexpr std::string_view module_name = "tls";

int attach_module(int socket) noexcept {
  if (io::sockets().setsockopt(socket, IPPROTO_TCP, TCP_ULP, module_name.data(), module_name.size()) == 0) return 0;
  return errno == EEXIST ? 0 : errno;  // an earlier attempt has attached it
}

template <class Parameters>
int set_parameters(int socket, Parameters& parameters, unsigned short type, const kernel_cipher& cipher) noexcept {
  parameters.info.version = TLS_1_3_VERSION;
  parameters.info.cipher_type = type;
  std::memcpy(parameters.key, cipher.key.data(), sizeof(parameters.key));
  // The kernel wants the first bytes of the initialization vector as "salt", if the cipher has one.
  const auto* const iv = cipher.iv.data();
  std::memcpy(parameters.salt, iv, cipher.iv.size() - sizeof(parameters.iv));
  std::memcpy(parameters.iv, iv + cipher.iv.size() - sizeof(parameters.iv), sizeof(parameters.iv));
  for (std::size_t i = 0; i < sizeof(parameters.rec_seq); ++i)
    parameters.rec_seq[i] = static_cast<unsigned char>(cipher.record >> (56 - 8 * i));
  const int error =
      io::sockets().setsockopt(socket, tls_level, TLS_TX, &parameters, sizeof(parameters)) == 0 ? 0 : errno;
  ::explicit_bzero(&parameters, sizeof(parameters));
  return error;
}

// With a connection of this process to itself, which ends when the listener is closed. Returns 0 or an errno.
int try_it() noexcept {
  const owned_fd listener(io::sockets().socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const owned_fd client(io::sockets().socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(where);
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  if (io::sockets().bind(listener.get(), address, size) != 0 || io::sockets().listen(listener.get(), 1) != 0 ||
      io::sockets().getsockname(listener.get(), address, &size) != 0)
    return errno;
  if (io::sockets().connect(client.get(), address, size) != 0 && errno != EINPROGRESS) return errno;
  constexpr int patience_ms = 500;  // a packet filter may swallow what goes to this port
  pollfd connected{.fd = client.get(), .events = POLLOUT, .revents = 0};
  if (io::sockets().poll(&connected, 1, patience_ms) != 1) return ETIMEDOUT;
  kernel_cipher cipher;
  cipher.with = kernel_cipher::algorithm::aes_128_gcm;
  return encrypt_in_kernel(client.get(), cipher);
}

kernel_encryption_choice choose() {
  const char* const wish = ::secure_getenv("GYRE_KERNEL_TLS");
  const std::string_view wanted = wish == nullptr ? "" : wish;
  if (!wanted.empty() && wanted != "auto" && wanted != "on" && wanted != "off")
    throw std::invalid_argument("GYRE_KERNEL_TLS=" + printable(wanted.substr(0, 60)) + ": expected auto, on or off");
  if (wanted == "off") return {.used = false, .reason = "not used: GYRE_KERNEL_TLS=off"};
  const int error = try_it();
  if (error == ENOENT) return {.used = false, .reason = "not used: this kernel has no module \"tls\", or no AES-GCM"};
  if (error != 0)
    return {.used = false, .reason = std::string("not used: the trial failed: ") + ::strerrordesc_np(error)};
  std::ifstream file("/proc/crypto");
  const std::string table((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string driver = fastest_driver(table, "gcm(aes)");
  if (wanted == "on") return {.used = true, .any_cipher = true, .reason = "used for large files: GYRE_KERNEL_TLS=on"};
  if (driver.empty() || !is_made_for_processor(driver))
    return {.used = false,
            .reason = "not used: this kernel encrypts slowly (" + driver + "); GYRE_KERNEL_TLS=on uses it anyway"};
  return {.used = true, .reason = "used for large files (" + driver + ")"};
}

}  // namespace

const kernel_encryption_choice& kernel_encryption() {
  static const kernel_encryption_choice chosen = choose();
  return chosen;
}

int encrypt_in_kernel(int socket, const kernel_cipher& cipher) noexcept {
  if (const int error = attach_module(socket); error != 0) return error;
  switch (cipher.with) {
    case kernel_cipher::algorithm::none:
      break;
    case kernel_cipher::algorithm::aes_128_gcm: {
      tls12_crypto_info_aes_gcm_128 parameters{};
      return set_parameters(socket, parameters, TLS_CIPHER_AES_GCM_128, cipher);
    }
    case kernel_cipher::algorithm::aes_256_gcm: {
      tls12_crypto_info_aes_gcm_256 parameters{};
      return set_parameters(socket, parameters, TLS_CIPHER_AES_GCM_256, cipher);
    }
    case kernel_cipher::algorithm::chacha20_poly1305: {
      tls12_crypto_info_chacha20_poly1305 parameters{};
      return set_parameters(socket, parameters, TLS_CIPHER_CHACHA20_POLY1305, cipher);
    }
  }
  return EINVAL;
}

int say_goodbye_in_kernel(int socket) noexcept {
  constexpr unsigned char alert = 21;
  std::array<unsigned char, 2> close_notify{1, 0};  // a warning, and its number
  iovec piece{.iov_base = close_notify.data(), .iov_len = close_notify.size()};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(1)> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const type = CMSG_FIRSTHDR(&message);
  type->cmsg_level = tls_level;
  type->cmsg_type = TLS_SET_RECORD_TYPE;
  type->cmsg_len = CMSG_LEN(1);
  *CMSG_DATA(type) = alert;
  return io::sockets().sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace gyre
