// gyre/io/socket_calls.hpp: the system calls on sockets, as a table. For authors of operations and backends.
#pragma once

#include <cstddef>

struct addrinfo;
struct msghdr;
struct pollfd;
struct sockaddr;
struct timespec;

namespace gyre::io {

/// The calls of the operating system that concern sockets and the network.
///
/// Each entry is the function of its name, see sections 2 and 3 of the manual: it has the same arguments, the same
/// result, and sets errno. So an entry of the real kernel is the function of the C library, and costs what that costs.
struct socket_calls {
  int (*socket)(int family, int type, int protocol);
  int (*socketpair)(int family, int type, int protocol, int* ends);
  int (*bind)(int fd, const sockaddr* address, unsigned size);
  int (*listen)(int fd, int backlog);
  int (*connect)(int fd, const sockaddr* address, unsigned size);
  int (*accept4)(int fd, sockaddr* peer, unsigned* size, int flags);
  int (*shutdown)(int fd, int how);

  int (*getsockopt)(int fd, int level, int option, void* value, unsigned* size);
  int (*setsockopt)(int fd, int level, int option, const void* value, unsigned size);
  int (*getsockname)(int fd, sockaddr* name, unsigned* size);
  int (*getpeername)(int fd, sockaddr* name, unsigned* size);

  std::ptrdiff_t (*recv)(int fd, void* into, std::size_t size, int flags);
  std::ptrdiff_t (*recvmsg)(int fd, msghdr* into, int flags);
  std::ptrdiff_t (*send)(int fd, const void* bytes, std::size_t size, int flags);
  std::ptrdiff_t (*sendmsg)(int fd, const msghdr* bytes, int flags);
  int (*poll)(pollfd* watched, unsigned long count, int milliseconds);
  int (*ppoll)(pollfd* watched, unsigned long count, const timespec* limit);  ///< without a mask of signals

  int (*getaddrinfo)(const char* host, const char* service, const addrinfo* hints, addrinfo** found);
  unsigned (*if_nametoindex)(const char* name);
  char* (*if_indextoname)(unsigned index, char* name);
};

}  // namespace gyre::io
