// src/net/tcp_socket.cpp: the life of a connected socket.
#include <gyre/net/tcp_operations.hpp>
#include <gyre/net/tcp_socket.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace gyre {

tcp_socket::tcp_socket(int fd) noexcept : received(descriptor, event_loop::current().backend()) {
  descriptor.fd = fd;
  received.socket = this;
  received.complete = &received_something;
}

tcp_socket& tcp_socket::create(int fd) {
  auto* const socket = new tcp_socket(fd);
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0)
    socket->peer = address::from_raw(&peer, length);
  event_loop::current().backend().attach(socket->descriptor);
  return *socket;
}

void tcp_socket::received_something(io::completion& c) noexcept {
  auto& queue = static_cast<receiving&>(static_cast<io::request&>(c));
  tcp_socket& self = *queue.socket;
  queue.listed = false;
  if (self.closing) {
    if (self.closer != nullptr)
      self.note_quiet();
    else if (self.quiet())
      self.release();
    return;
  }
  if (self.reader == nullptr) return;
  if (!queue.readable()) {
    queue.arm();  // it ended for no reason of its own: a full completion queue, a cancel that came too late
    return;
  }
  if (self.reader_advance(*self.reader)) {
    operation_base& reader = *std::exchange(self.reader, nullptr);
    reader.proceed(reader);
  } else {
    queue.arm();
  }
}

void tcp_socket::cancel_all() noexcept {
  if (reader != nullptr) reader->cancel(*reader);
  for (stream_writer* w = first_writer; w != nullptr;) {
    auto& writer = static_cast<tcp_write_base&>(*w);
    w = w->next_writer;
    writer.cancel(writer);
  }
}

void tcp_socket::note_quiet() noexcept {
  if (closer != nullptr && quiet() && first_writer == nullptr) std::exchange(closer, nullptr)->quiet();
}

void tcp_socket::release() noexcept {
  event_loop::current().backend().detach(descriptor);
  ::close(descriptor.fd);
  if (peer_link != nullptr) {
    *peer_link = next_peer;
    if (next_peer != nullptr) next_peer->peer_link = peer_link;
  }
  delete this;
}

void tcp_socket::abandon() noexcept {
  if (reader != nullptr || first_writer != nullptr)
    misuse("a tcp_stream was destroyed while another task reads from it or writes to it");
  closing = true;
  if (quiet())
    release();
  else
    event_loop::current().backend().cancel(received);
}

}  // namespace gyre
