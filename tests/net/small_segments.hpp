// tests/net/small_segments.hpp: TCP connections whose segments are small, for tests with small socket buffers.
#pragma once

#include "tests/net/connected_pair.hpp"

#include <gyre/io/owned_fd.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace gyre_test {

/// A connection with the segments of Ethernet. The loopback device has segments of 64 KiB. With socket buffers smaller
/// than that, the kernel never sees a full segment: it acknowledges 40 ms late, and probes a full receiver only after
/// 200 ms.
inline connected_pair small_segment_pair() {
  const auto expect_success = [](int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "small_segment_pair");
    return result;
  };
  const auto set = [&](int fd, int option, int value) {
    expect_success(::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)));
  };
  const gyre::owned_fd listener(expect_success(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  set(listener.get(), TCP_MAXSEG, 1'448);
  sockaddr_in place{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(place);
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  expect_success(::bind(listener.get(), address, size));
  expect_success(::listen(listener.get(), 1));
  expect_success(::getsockname(listener.get(), address, &size));
  const int client = expect_success(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  connected_pair pair;
  expect_success(::connect(client, address, size));
  pair.client = gyre::tcp_stream::from_fd(client);
  pair.server = gyre::tcp_stream::from_fd(expect_success(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  pair.client.set_no_delay(true);
  pair.server.set_no_delay(true);
  return pair;
}

}  // namespace gyre_test
