// src/io/real_socket_calls.hpp: the operating system's calls on sockets.
#pragma once

#include <gyre/io/socket_calls.hpp>

#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

namespace gyre::io {

inline constexpr socket_calls real_socket_calls{
    .socket = ::socket,
    .socketpair = ::socketpair,
    .bind = ::bind,
    .listen = ::listen,
    .connect = ::connect,
    .accept4 = ::accept4,
    .shutdown = ::shutdown,
    .getsockopt = ::getsockopt,
    .setsockopt = ::setsockopt,
    .getsockname = ::getsockname,
    .getpeername = ::getpeername,
    .recv = ::recv,
    .recvmsg = ::recvmsg,
    .send = ::send,
    .sendmsg = ::sendmsg,
    .poll = ::poll,
    .ppoll = [](pollfd* watched, unsigned long count,
                const timespec* limit) { return ::ppoll(watched, count, limit, nullptr); },
    .getaddrinfo = ::getaddrinfo,
    .if_nametoindex = ::if_nametoindex,
    .if_indextoname = ::if_indextoname,
};

}  // namespace gyre::io
