// src/net/connecting.cpp: a socket that is being connected, and calls that sockets of every kind share.
#include <gyre/io/kernel.hpp>

#include "connecting.hpp"
#include "last_error.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace gyre {

connecting_socket::connecting_socket(int family)
    : descriptor_{.fd = io::sockets().socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)} {
  if (descriptor_.fd < 0) throw last_error();
}

connecting_socket::~connecting_socket() {
  if (descriptor_.fd < 0) return;
  event_loop::current().backend().detach(descriptor_);
  io::files().close(descriptor_.fd);
}

int connecting_socket::release() noexcept {
  event_loop::current().backend().detach(descriptor_);
  return std::exchange(descriptor_.fd, -1);
}

void set_socket_option(int fd, int level, int option, int value) {
  if (io::sockets().setsockopt(fd, level, option, &value, sizeof(value)) < 0) throw last_error();
}

interface_name::interface_name(std::string_view name) {
  if (name.size() > max_size || name.find('\0') != std::string_view::npos)
    throw io_error(std::make_error_code(std::errc::invalid_argument), "interface_name", '"' + std::string(name) + '"');
  name.copy(text_, max_size);
}
interface_name::interface_name(const char* name) : interface_name(std::string_view(name)) {}

void bind_to_interface(int fd, const interface_name& name) {
  if (name.empty()) return;
  const std::string_view interface = name.view();
  if (io::sockets().setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.data(),
                               static_cast<socklen_t>(interface.size())) < 0)
    throw last_error();
}

}  // namespace gyre
