// bench/bare/options.hpp: listening and stopping, for all bare loops.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace bare {

[[noreturn]] inline void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

/// The size of receive buffers: BENCH_BUFFER, for loads of large messages.
inline std::size_t buffer_size(std::size_t otherwise) {
  const char* const wanted = std::getenv("BENCH_BUFFER");
  return wanted == nullptr ? otherwise : static_cast<std::size_t>(std::atol(wanted));
}

/// Listens on the HOST:PORT after --listen, and prints "listening on HOST:PORT (NAME)".
inline int listen_as_told(int argc, char** argv, const char* name) {
  std::string where = "127.0.0.1:0";
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string(argv[i]) == "--listen") where = argv[i + 1];
  const std::size_t colon = where.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.c_str() + colon + 1)));
  ::inet_pton(AF_INET, where.substr(0, colon).c_str(), &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0 || ::listen(fd, 4096) < 0) fail("listen");
  socklen_t length = sizeof(address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  std::fprintf(stderr, "listening on 127.0.0.1:%d (%s)\n", ntohs(address.sin_port), name);
  const auto stop = [](int) { ::_exit(0); };
  ::signal(SIGTERM, stop);
  ::signal(SIGINT, stop);
  ::signal(SIGPIPE, SIG_IGN);
  return fd;
}

}  // namespace bare
