// examples/refactor/plain_sockets.hpp: blocking sockets in two classes, as programs with threads typically have.
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace plain {

[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A descriptor for reading and writing, closed on destruction. SIGPIPE must be ignored.
class stream {
 public:
  explicit stream(int descriptor) noexcept : descriptor_(descriptor) {}
  stream(stream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  stream& operator=(stream&&) = delete;
  ~stream() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Waits for bytes, and returns their number; 0 at the end.
  [[nodiscard]] std::size_t read_some(std::span<char> buffer) const {
    for (;;) {
      const ssize_t n = ::read(descriptor_, buffer.data(), buffer.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) fail("read");
    }
  }
  void write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n >= 0)
        bytes.remove_prefix(static_cast<std::size_t>(n));
      else if (errno != EINTR)
        fail("write");
    }
  }
  void shutdown_write() const {
    if (::shutdown(descriptor_, SHUT_WR) != 0) fail("shutdown");
  }
  /// Reads in other threads get the bytes that have arrived, then the end.
  void shutdown_read() const noexcept { ::shutdown(descriptor_, SHUT_RD); }
  /// Reads and writes in other threads end at once.
  void shutdown_both() const noexcept { ::shutdown(descriptor_, SHUT_RDWR); }
  [[nodiscard]] int native_descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// The addresses for "127.0.0.1:80", "localhost:80" or "[::1]:80".
class addresses {
 public:
  addresses(const std::string& where, int flags) {
    const std::size_t colon = where.rfind(':');
    std::string host = where.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    if (colon == std::string::npos ||
        ::getaddrinfo(host.empty() ? nullptr : host.c_str(), where.substr(colon + 1).c_str(), &hints, &first_) != 0)
      throw std::runtime_error(where + " is not an address");
  }
  addresses(const addresses&) = delete;
  addresses& operator=(const addresses&) = delete;
  ~addresses() { ::freeaddrinfo(first_); }
  [[nodiscard]] const addrinfo* first() const noexcept { return first_; }

 private:
  addrinfo* first_ = nullptr;
};

/// Connects to the first address that answers.
inline stream connect(const std::string& where) {
  const addresses found(where, 0);
  for (const addrinfo* each = found.first(); each != nullptr; each = each->ai_next) {
    stream server(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(server.native_descriptor(), each->ai_addr, each->ai_addrlen) == 0) return server;
  }
  fail("connect " + where);
}

/// Listens until SIGINT or SIGTERM. Create it before any thread: later threads inherit the blocked signals.
class listener {
 public:
  explicit listener(const std::string& where) : socket_(bind(where)), signals_(block_signals()) {}

  /// Returns the next connection, or nothing when the program has to end. After that the next signal kills it.
  [[nodiscard]] std::optional<stream> accept() const {
    for (;;) {
      pollfd both[] = {{socket_.native_descriptor(), POLLIN, 0}, {signals_.native_descriptor(), POLLIN, 0}};
      if (::poll(both, 2, -1) < 0 && errno != EINTR) fail("poll");
      if (both[1].revents != 0) {
        signalfd_siginfo taken{};
        (void)signals_.read_some({reinterpret_cast<char*>(&taken), sizeof taken});
        const sigset_t set = termination();
        ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
        return std::nullopt;
      }
      if (const int peer = ::accept4(socket_.native_descriptor(), nullptr, nullptr, SOCK_CLOEXEC); peer >= 0)
        return stream(peer);
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) continue;  // that client has left
      std::fprintf(stderr, "accept: out of descriptors\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a connection may end
    }
  }

  /// "127.0.0.1:34567", with the port that the kernel chose.
  [[nodiscard]] std::string local_address() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (::getsockname(socket_.native_descriptor(), name, &size) != 0) fail("getsockname");
    if (::getnameinfo(name, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
      throw std::runtime_error("getnameinfo");
    return (name->sa_family == AF_INET6 ? '[' + std::string(host) + ']' : std::string(host)) + ':' + port;
  }

 private:
  static stream bind(const std::string& where) {
    const addresses found(where, AI_PASSIVE);
    const addrinfo& first = *found.first();
    // Non-blocking: the client may leave between poll and accept.
    stream socket(::socket(first.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(socket.native_descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.native_descriptor(), first.ai_addr, first.ai_addrlen) != 0 ||
        ::listen(socket.native_descriptor(), SOMAXCONN) != 0)
      fail("listen " + where);
    return socket;
  }
  static sigset_t termination() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
  }
  static stream block_signals() {
    const sigset_t set = termination();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const int descriptor = ::signalfd(-1, &set, SFD_CLOEXEC);
    if (descriptor < 0) fail("signalfd");
    return stream(descriptor);
  }

  stream socket_;
  stream signals_;
};

}  // namespace plain
