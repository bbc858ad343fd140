// tests/contract/sockets.hpp: sockets to try operations on, and actions of their peers. Plain system calls.
#pragma once

#include <gyre/io/owned_fd.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace gyre::contract {

/// Stops the test with the error of the system call, when a precondition of the test fails.
inline int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

using gyre::owned_fd;

inline owned_fd new_socket(int family) {
  return owned_fd(checked(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
}

/// Two ends of a connection. The test tries operations on `ours`, and uses `peer` with plain calls.
struct connection {
  owned_fd ours;
  owned_fd peer;
};

inline connection unix_connection() {
  int ends[2];
  checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), "socketpair");
  return {owned_fd(ends[0]), owned_fd(ends[1])};
}

/// A socket that listens on 127.0.0.1.
struct tcp_server {
  owned_fd fd = new_socket(AF_INET);
  sockaddr_in address{};

  explicit tcp_server(int backlog = 1024) {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    checked(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
    checked(::listen(fd.get(), backlog), "listen");
    checked(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  }

  /// Begins to connect. On the same machine the connect has succeeded on return, unless the backlog is full.
  [[nodiscard]] owned_fd begin_connect() const {
    owned_fd client = new_socket(AF_INET);
    if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0 &&
        errno != EINPROGRESS)
      checked(-1, "connect");
    return client;
  }
};

/// An AF_UNIX socket that listens on an abstract name.
struct unix_server {
  owned_fd fd = new_socket(AF_UNIX);
  sockaddr_un address{};
  socklen_t size = sizeof(address);

  explicit unix_server(int backlog) {
    address.sun_family = AF_UNIX;
    // An empty address: the kernel chooses a unique name.
    checked(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), "bind");
    checked(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    checked(::listen(fd.get(), backlog), "listen");
  }
};

inline connection tcp_connection() {
  const tcp_server server(1);
  owned_fd peer = server.begin_connect();
  pollfd waiting{.fd = server.fd.get(), .events = POLLIN, .revents = 0};
  checked(::poll(&waiting, 1, 10'000), "poll");  // an emulated kernel takes its time
  owned_fd ours(checked(::accept4(server.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept4"));
  const int on = 1;
  checked(::setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
  return {std::move(ours), std::move(peer)};
}

/// Closes a TCP socket so that the other end sees a connection reset.
inline void reset(owned_fd& fd) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  checked(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)), "SO_LINGER");
  fd.close();
}

/// Sends as much as fits. Returns the count.
inline std::size_t say(const owned_fd& fd, std::string_view bytes, int flags = 0) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
    if (n < 0 && errno == EAGAIN) break;
    sent += static_cast<std::size_t>(checked(static_cast<int>(n), "send"));
  }
  return sent;
}

/// Receives what is available, up to `most`.
inline std::string received_by(const owned_fd& fd, std::size_t most = ~std::size_t{0}) {
  std::string all;
  char block[16384];
  while (all.size() < most) {
    const ssize_t n = ::recv(fd.get(), block, std::min(sizeof(block), most - all.size()), MSG_DONTWAIT);
    if (n <= 0) break;
    all.append(block, static_cast<std::size_t>(n));
  }
  return all;
}

/// Fills the socket until it accepts no more. Returns the number of bytes.
inline std::size_t fill(const owned_fd& fd) {
  const std::string block(65536, 'f');
  std::size_t total = 0;
  for (std::size_t n = block.size(); n > 0; total += n) n = say(fd, block);
  return total;
}

/// Returns the same bytes for the same seed.
inline std::string random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

/// Two UDP sockets of 127.0.0.1. Ours has no peer; the other is connected to ours.
inline connection udp_pair() {
  connection c{owned_fd(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")),
               owned_fd(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  checked(::bind(c.ours.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::getsockname(c.ours.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  checked(::connect(c.peer.get(), reinterpret_cast<sockaddr*>(&address), size), "connect");
  return c;
}

/// Sends one datagram.
inline void tell(const owned_fd& to, std::string_view text) {
  checked(static_cast<int>(::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL)), "send");
}

}  // namespace gyre::contract
