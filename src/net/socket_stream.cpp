// src/net/socket_stream.cpp: what all connected sockets can be told.
#include <gyre/io/io_error.hpp>
#include <gyre/net/socket_stream.hpp>

#include <sys/socket.h>

#include <cerrno>

namespace gyre {

void socket_stream::shutdown_read() noexcept { ::shutdown(socket_->fd, SHUT_RD); }

void socket_stream::set_option(int level, int option, int value, const char* name) const {
  if (::setsockopt(socket_->fd, level, option, &value, sizeof(value)) < 0)
    throw io_error({errno, std::generic_category()}, name, socket_->peer_name());
}

void socket_stream::set_send_buffer_size(int bytes) {
  set_option(SOL_SOCKET, SO_SNDBUF, bytes, "set_send_buffer_size");
}
void socket_stream::set_receive_buffer_size(int bytes) {
  set_option(SOL_SOCKET, SO_RCVBUF, bytes, "set_receive_buffer_size");
}

}  // namespace gyre
