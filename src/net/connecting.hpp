// src/net/connecting.hpp: a socket that is being connected, and calls that sockets of every kind share.
#pragma once

#include <gyre/loop/io_operation.hpp>
#include <gyre/net/interface_name.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <expected>
#include <string>
#include <system_error>

namespace gyre {

/// A descriptor and its registration. Both end with the attempt to connect, unless they are released.
class connecting_socket {
 public:
  /// Errors: std::system_error.
  explicit connecting_socket(int family);
  connecting_socket& operator=(connecting_socket&&) = delete;
  ~connecting_socket();

  [[nodiscard]] io::descriptor& get() noexcept { return descriptor_; }
  [[nodiscard]] int fd() const noexcept { return descriptor_.fd; }
  /// Transfers the descriptor to the caller.
  [[nodiscard]] int release() noexcept;

 private:
  io::descriptor descriptor_;
};

/// Connects to a socket address. The address must stay valid until the await returns.
class [[nodiscard("co_await it")]] connect_op : public io_operation<connect_op> {
 public:
  connect_op(connecting_socket& socket, const void* peer, std::uint32_t size, std::string name) noexcept
      : name_(std::move(name)) {
    code = io::opcode::connect;
    target = &socket.get();
    address = const_cast<void*>(peer);
    length = size;
  }
  std::expected<void, std::error_code> take_result() {
    if (result < 0) return std::unexpected(error());
    return {};
  }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "connect", name_); }

 private:
  std::string name_;
};

/// getsockname or getpeername.
using name_call = int (*)(int, sockaddr*, socklen_t*);
/// The name of a socket. Errors: io_error with this operation.
template <class Address>
[[nodiscard]] Address name_of_socket(int fd, name_call call, const char* operation) {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  if (call(fd, reinterpret_cast<sockaddr*>(&name), &length) < 0)
    throw io_error({errno, std::generic_category()}, operation, {});
  return Address::from_raw(&name, length);
}
/// Sets a socket option before bind, listen or connect. Errors: std::system_error.
void set_socket_option(int fd, int level, int option, int value);
/// Restricts the socket to this network interface. Empty: no effect. Errors: std::system_error.
void bind_to_interface(int fd, const interface_name& interface);

}  // namespace gyre
