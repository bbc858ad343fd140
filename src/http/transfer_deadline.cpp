// src/http/transfer_deadline.cpp: what happens when the timer fires.
#include <gyre/net/socket_operations.hpp>

#include "transfer_deadline.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <utility>

namespace gyre::http {
namespace {

// What the peer has acknowledged since the connection began. Of a Unix socket: what it has taken of the write that waits.
std::uint64_t taken_by_peer(socket_stream& stream) noexcept {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(stream.native_descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
      size >= offsetof(tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked))
    return info.tcpi_bytes_acked;
  const socket_write_base* const writer = stream.socket().first_writer();
  return writer == nullptr ? 0 : writer->done();
}

}  // namespace

bool transfer_deadline::peer_takes_enough() noexcept {
  const std::uint64_t now = taken_by_peer(stream_);
  const std::uint64_t before = std::exchange(taken_, now);
  return now - (now < before ? 0 : before) >= enough_;  // less than before: of a later write
}

void transfer_deadline::look() noexcept {
  if (!active_) return;
  event_loop& loop = event_loop::current();
  const io::monotonic_time now = loop.now();
  if (now >= wanted_ && enough_ > 0 && peer_takes_enough()) wanted_ = now + limit_;
  if (now < wanted_) {
    deadline = wanted_;
    loop.timers().arm(*this);
    return;
  }
  expired_ = true;
  stream_.cancel();
}

}  // namespace gyre::http
