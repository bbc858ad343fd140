// src/net/socket_state.cpp: the life of a connected socket.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/net/socket_operations.hpp>
#include <gyre/net/socket_state.hpp>
#include <gyre/net/unix_address.hpp>

#include "note_written.hpp"
#include "reset_at_close.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace gyre {

namespace {
// A reader that waits at the closed stream for ever. It can be cancelled.
constinit operation_base nobody_reads{{.cancel = [](cancellable&) noexcept {}}};
}  // namespace

constinit socket_state socket_state::closed(nobody_reads);

socket_state::socket_state(int number) noexcept : received(*this, loop_of(kind).backend()) {
  fd = number;
  received.complete = &received_something;
}

std::string socket_state::peer_name() const {
  if (!peer.empty()) return peer.string();
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  if (io::sockets().getpeername(fd, reinterpret_cast<sockaddr*>(&name), &length) == 0)
    if (const auto far = unix_address::from_raw(&name, length); !far.is_unnamed()) return far.string();
  length = sizeof(name);
  if (io::sockets().getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) == 0)
    if (const auto near = unix_address::from_raw(&name, length); !near.is_unnamed()) return near.string();
  return {};
}

socket_state& socket_state::create(int fd) {
  owned_fd unless_taken(fd);
  auto* const socket = new socket_state(fd);
  (void)unless_taken.release();
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  if (io::sockets().getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0)
    socket->peer = address::from_raw(&peer, length).unmapped();
  socket->may_carry_descriptors = peer.ss_family != AF_INET && peer.ss_family != AF_INET6;
  event_loop::current().backend().attach(*socket);
  return *socket;
}

socket_state& socket_state::adopt(int fd) {
  const int flags = io::files().fcntl(fd, F_GETFL, 0);
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  int type = SOCK_STREAM;
  socklen_t size = sizeof(type);
  io::sockets().getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
  if (type != SOCK_STREAM)
    errno = EPROTOTYPE;
  else if (flags >= 0 && io::sockets().getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
           io::files().fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0)
    return create(fd);
  const std::error_code reason(errno, std::generic_category());
  if (fd >= 0) io::files().close(fd);
  throw io_error(reason, "from_fd", std::to_string(fd));
}

std::uint64_t socket_state::taken_since(std::uint64_t& seen) noexcept {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (io::sockets().getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
      size >= offsetof(tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked))
    return info.tcpi_bytes_acked - std::exchange(seen, info.tcpi_bytes_acked);
  return std::exchange(written, 0U);
}

std::ptrdiff_t socket_state::write_now(std::string_view bytes, bool more) noexcept {
  if (first_writer() != nullptr) return 0;
  const auto sent =
      io::sockets().send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  if (sent > 0) note_written(*this, static_cast<std::size_t>(sent));
  if (sent >= 0) return sent;
  const bool may_succeed_later = errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM;
  return may_succeed_later ? 0 : -errno;
}

void socket_state::reset_at_close() noexcept { (void)gyre::reset_at_close(fd); }

socket_write_base* socket_state::first_writer() const noexcept {
  return last_writer == nullptr ? nullptr : last_writer->next_writer_;
}

void socket_state::append_writer(socket_write_base& op) noexcept {
  op.next_writer_ = last_writer == nullptr ? &op : std::exchange(last_writer->next_writer_, &op);
  last_writer = &op;
}

void socket_state::remove_writer(socket_write_base& op) noexcept {
  socket_write_base* before = last_writer;
  while (before->next_writer_ != &op) before = before->next_writer_;
  before->next_writer_ = op.next_writer_;
  if (last_writer == &op) last_writer = before == &op ? nullptr : before;
  op.queued_ = false;
}

void socket_state::cancel_reader() noexcept {
  if (waiting_reader != nullptr) waiting_reader->cancel(*waiting_reader);
}

void socket_state::cancel_writers() noexcept {
  socket_write_base* const first = first_writer();
  if (first == nullptr) return;
  while (first->next_writer_ != first) first->next_writer_->cancel(*first->next_writer_);
  first->cancel(*first);  // may be in flight: it stays in the queue until that has ended
}

void socket_state::note_quiet() noexcept {
  if (closer != nullptr && quiet() && waiting_reader == nullptr && last_writer == nullptr)
    std::exchange(closer, nullptr)->quiet();
}

void socket_state::release() noexcept {
  event_loop::current().backend().detach(*this);
  if (write_cut) reset_at_close();  // the peer must not take a part for the whole
  io::files().close(fd);
  if (peer_link != nullptr) {
    *peer_link = next_peer;
    if (next_peer != nullptr) next_peer->peer_link = peer_link;
  }
  delete this;
}

void socket_state::abandon() noexcept {
  event_loop& loop = loop_of(kind);
  if (!is_of_running_loop()) [[unlikely]] {
    stop_destroyed_elsewhere(kind);
    io::files().close(fd);  // a forked child: the rest of this belongs to the parent's loop
    return;
  }
  if (waiting_reader != nullptr || last_writer != nullptr)
    misuse("a stream was destroyed while another task reads from it or writes to it: cancel and await that task first");
  if (!write_ended && cancel_scope::ends_abruptly(loop.running_task())) [[unlikely]]
    reset_at_close();
  closing = true;
  if (quiet())
    release();
  else
    loop.backend().cancel(received);
}

}  // namespace gyre
