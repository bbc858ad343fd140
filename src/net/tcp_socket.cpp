// src/net/tcp_socket.cpp: the life of a connected socket.
#include <gyre/net/tcp_operations.hpp>
#include <gyre/net/tcp_socket.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace gyre {

tcp_socket::tcp_socket(int number) noexcept : received(*this, event_loop::current().backend()) {
  fd = number;
  received.complete = &received_something;
}

tcp_socket& tcp_socket::create(int fd) {
  auto* const socket = new tcp_socket(fd);
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0)
    socket->peer = address::from_raw(&peer, length);
  event_loop::current().backend().attach(*socket);
  return *socket;
}

void tcp_socket::received_something(io::completion& c) noexcept {
  auto& queue = static_cast<io::receive_queue&>(static_cast<io::request&>(c));
  tcp_socket& self = of(queue);
  queue.listed = false;
  if (self.closing) {
    if (self.closer != nullptr)
      self.note_quiet();
    else if (self.quiet())
      self.release();
    return;
  }
  if (self.waiting_reader == nullptr) return;
  if (!queue.readable()) {
    queue.arm();  // it ended for no reason of its own: a full completion queue, a cancel that came too late
    return;
  }
  operation_base& reader = *self.waiting_reader;
  if (self.reader_copies && !static_cast<tcp_read_op&>(reader).take_queued()) {
    queue.arm();
    return;
  }
  self.waiting_reader = nullptr;
  reader.proceed(reader);
}

tcp_write_base* tcp_socket::first_writer() const noexcept {
  return last_writer == nullptr ? nullptr : last_writer->next_writer_;
}

void tcp_socket::append_writer(tcp_write_base& op) noexcept {
  op.next_writer_ = last_writer == nullptr ? &op : std::exchange(last_writer->next_writer_, &op);
  last_writer = &op;
}

void tcp_socket::remove_writer(tcp_write_base& op) noexcept {
  tcp_write_base* before = last_writer;
  while (before->next_writer_ != &op) before = before->next_writer_;
  before->next_writer_ = op.next_writer_;
  if (last_writer == &op) last_writer = before == &op ? nullptr : before;
  op.queued_ = false;
}

void tcp_socket::cancel_all() noexcept {
  if (waiting_reader != nullptr) waiting_reader->cancel(*waiting_reader);
  tcp_write_base* const first = first_writer();
  if (first == nullptr) return;
  while (first->next_writer_ != first) first->next_writer_->cancel(*first->next_writer_);
  first->cancel(*first);  // it may be in flight: it stays in the queue until that has ended
}

void tcp_socket::note_quiet() noexcept {
  if (closer != nullptr && quiet() && last_writer == nullptr) std::exchange(closer, nullptr)->quiet();
}

void tcp_socket::release() noexcept {
  event_loop::current().backend().detach(*this);
  ::close(fd);
  if (peer_link != nullptr) {
    *peer_link = next_peer;
    if (next_peer != nullptr) next_peer->peer_link = peer_link;
  }
  delete this;
}

void tcp_socket::abandon() noexcept {
  if (waiting_reader != nullptr || last_writer != nullptr)
    misuse("a tcp_stream was destroyed while another task reads from it or writes to it");
  closing = true;
  if (quiet())
    release();
  else
    event_loop::current().backend().cancel(received);
}

}  // namespace gyre
