// src/io/attempt.cpp: each one-shot operation as one non-blocking system call.
#include <gyre/io/backend.hpp>
#include <gyre/io/kernel.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>

namespace gyre::io {
namespace {

// A `message` is passed to the kernel as it is.
static_assert(sizeof(const_buffer) == sizeof(iovec) && alignof(const_buffer) == alignof(iovec));
static_assert(offsetof(const_buffer, data) == offsetof(iovec, iov_base));
static_assert(offsetof(const_buffer, size) == offsetof(iovec, iov_len));
static_assert(sizeof(message) == sizeof(msghdr) && alignof(message) == alignof(msghdr));
static_assert(offsetof(message, name) == offsetof(msghdr, msg_name));
static_assert(offsetof(message, name_length) == offsetof(msghdr, msg_namelen));
static_assert(offsetof(message, buffers) == offsetof(msghdr, msg_iov));
static_assert(offsetof(message, buffer_count) == offsetof(msghdr, msg_iovlen));
static_assert(offsetof(message, control) == offsetof(msghdr, msg_control));
static_assert(offsetof(message, control_length) == offsetof(msghdr, msg_controllen));
static_assert(offsetof(message, flags) == offsetof(msghdr, msg_flags));

std::size_t total_size(const message& m) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < m.buffer_count; ++i) size += m.buffers[i].size;
  return size;
}

// poll reports a bad descriptor and "not ready" in its own way. Reported here as other
// calls, and the ring, report them.
long poll_now(const socket_calls& calls, int fd, short events) noexcept {
  pollfd p{.fd = fd, .events = events, .revents = 0};
  const int n = calls.poll(&p, 1, 0);
  if (n < 0) return -1;
  if (fd < 0 || (p.revents & POLLNVAL) != 0)
    errno = EBADF;
  else if (n > 0)
    return 0;
  else
    errno = EAGAIN;
  return -1;
}

long connect_now(const socket_calls& calls, const request& r) noexcept {
  const int n = calls.connect(r.target->fd, static_cast<const sockaddr*>(r.address), r.length);
  // The connect is in progress, begun by this call or by an earlier one.
  if (n < 0 && (errno == EINPROGRESS || errno == EALREADY)) errno = EAGAIN;
  return n;
}

long call(const socket_calls& calls, const request& r) noexcept {
  const int fd = r.target->fd;
  switch (r.code) {
    case opcode::accept:
      return calls.accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    case opcode::connect:
      return connect_now(calls, r);
    case opcode::send_message:
      return calls.sendmsg(fd, static_cast<const msghdr*>(r.address), MSG_DONTWAIT | MSG_NOSIGNAL);
    case opcode::receive_message:
      return calls.recvmsg(fd, static_cast<msghdr*>(r.address), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    case opcode::wait_readable:
      return poll_now(calls, fd, POLLIN | POLLRDHUP);
    case opcode::wait_writable:
      return poll_now(calls, fd, POLLOUT);
    default:
      break;  // files: a call could block; the other codes belong to a backend
  }
  errno = EOPNOTSUPP;
  return -1;
}

// A kernel that stops at descriptors and has no room to pass them on reports that it dropped them. Then a short read
// does not mean that nothing is left. Not in line: recv(2), which most sockets use, needs no structures.
[[gnu::noinline]] long receive_before_descriptors(const socket_calls& calls, int fd, void* into, std::size_t size,
                                                  bool& stopped) noexcept {
  iovec bytes{.iov_base = into, .iov_len = size};
  msghdr call{};
  call.msg_iov = &bytes;
  call.msg_iovlen = 1;
  const long count = calls.recvmsg(fd, &call, MSG_DONTWAIT);
  stopped = (call.msg_flags & MSG_CTRUNC) != 0;
  return count;
}

// A short transfer means that the socket is full now.
bool was_short(const request& r, long count) noexcept {
  switch (r.code) {
    case opcode::send_message:
      return static_cast<std::size_t>(count) < total_size(*static_cast<const message*>(r.address));
    default:
      return false;
  }
}

}  // namespace

backend::backend(buffer_pool::amount common, buffer_pool::amount large)
    : calls_(&kernel::here()), buffers_(common, large) {}

long backend::receive_now(descriptor& d, void* into, std::size_t size) noexcept {
  const socket_calls& calls = calls_->sockets;
  bool stopped = false;
  long count = 0;
  do
    count = d.may_carry_descriptors ? receive_before_descriptors(calls, d.fd, into, size, stopped)
                                    : calls.recv(d.fd, into, size, MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0) {
    if (errno == EAGAIN) d.readable = false;
    return -errno;
  }
  if (static_cast<std::size_t>(count) < size && !stopped && !d.hangup) d.readable = false;
  return count;
}

long backend::send_now(descriptor& d, const void* from, std::size_t size) noexcept {
  long count = 0;
  do count = calls_->sockets.send(d.fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  if (count < 0) {
    if (errno == EAGAIN) d.writable = false;
    return -errno;
  }
  if (static_cast<std::size_t>(count) < size && !d.hangup) d.writable = false;
  return count;
}

bool backend::attempt(request& r) noexcept {
  if (r.code == opcode::receive_into || r.code == opcode::send) {
    const long outcome =
        r.code == opcode::send ? send_now(*r.target, r.address, r.length) : receive_now(*r.target, r.address, r.length);
    if (outcome == -EAGAIN) return false;
    r.result = static_cast<int>(outcome);
    return true;
  }
  long count = 0;
  do count = call(calls_->sockets, r);
  while (count < 0 && errno == EINTR);
  descriptor& d = *r.target;
  bool& ready = reads(r.code) ? d.readable : d.writable;
  if (count < 0 && errno == EAGAIN) {
    ready = false;
    return false;
  }
  r.result = count < 0 ? -errno : static_cast<int>(count);
  if (count >= 0 && was_short(r, count) && !d.hangup) ready = false;
  return true;
}

}  // namespace gyre::io
