// src/net/socket_stream.cpp: functions common to all connected sockets.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/net/socket_stream.hpp>

#include <sys/socket.h>

#include <cerrno>

namespace gyre {

// Disconnecting sends the reset at once, even if another process still has the descriptor. See connect(2), AF_UNSPEC.
void socket_stream::abort() noexcept {
  if (!is_open()) return;
  socket_->expect_own_loop("abort");
  socket_->aborted = true;
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  if (!socket_->peer.empty() && io::sockets().connect(socket_->fd, &nobody, sizeof(nobody)) == 0) return;
  socket_->reset_at_close();
  io::sockets().shutdown(socket_->fd, SHUT_RDWR);
}

void socket_stream::set_option(int level, int option, int value, const char* name) const {
  socket_->expect_open(name);
  if (io::sockets().setsockopt(socket_->fd, level, option, &value, sizeof(value)) < 0)
    throw io_error({errno, std::generic_category()}, name, socket_->peer_name());
}

void socket_stream::set_send_buffer_size(int bytes) {
  set_option(SOL_SOCKET, SO_SNDBUF, bytes, "set_send_buffer_size");
}
void socket_stream::set_receive_buffer_size(int bytes) {
  set_option(SOL_SOCKET, SO_RCVBUF, bytes, "set_receive_buffer_size");
}

}  // namespace gyre
