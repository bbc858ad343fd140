// src/net/tcp_stream.cpp: connecting, and the options of a connected socket.
#include <gyre/loop/io_operation.hpp>
#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <string>
#include <vector>

namespace gyre {
namespace {

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

// A descriptor and its registration that end with the attempt to connect, unless they are taken over.
class connecting_descriptor {
 public:
  explicit connecting_descriptor(const address& peer)
      : descriptor_{.fd = ::socket(static_cast<const sockaddr*>(peer.data())->sa_family,
                                   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)} {
    if (descriptor_.fd < 0) throw io_error(last_error(), "connect", peer.string());
    event_loop::current().backend().attach(descriptor_);
  }
  connecting_descriptor(const connecting_descriptor&) = delete;
  connecting_descriptor& operator=(const connecting_descriptor&) = delete;
  ~connecting_descriptor() {
    if (descriptor_.fd < 0) return;
    event_loop::current().backend().detach(descriptor_);
    ::close(descriptor_.fd);
  }
  [[nodiscard]] io::descriptor& get() noexcept { return descriptor_; }
  [[nodiscard]] int release() noexcept {
    event_loop::current().backend().detach(descriptor_);
    return std::exchange(descriptor_.fd, -1);
  }

 private:
  io::descriptor descriptor_;
};

class [[nodiscard]] connect_op : public io_operation<connect_op> {
 public:
  connect_op(io::descriptor& descriptor, const gyre::address& peer) noexcept : peer_(&peer) {
    code = io::opcode::connect;
    target = &descriptor;
    io::request::address = const_cast<void*>(peer.data());
    length = peer.size();
  }
  std::expected<void, std::error_code> take_result() {
    if (result < 0) return std::unexpected(error());
    return {};
  }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "connect", peer_->string()); }

 private:
  const gyre::address* peer_;
};

void set_option(const tcp_socket& socket, int level, int option, int value, const char* name) {
  if (::setsockopt(socket.fd, level, option, &value, sizeof(value)) < 0)
    throw io_error(last_error(), name, socket.peer.string());
}

}  // namespace

task<tcp_stream> tcp_stream::connect(address peer) {
  connecting_descriptor descriptor(peer);
  co_await connect_op(descriptor.get(), peer);
  const int fd = descriptor.release();
  tcp_stream stream = from_descriptor(fd);
  stream.set_no_delay(true);
  co_return stream;
}

task<tcp_stream> tcp_stream::connect(std::string host_and_port) {
  auto addresses = co_await resolve(host_and_port);
  co_return co_await connect_to_first(std::move(addresses));
}

void tcp_stream::shutdown_read() noexcept { ::shutdown(socket_->fd, SHUT_RD); }

address tcp_stream::local_address() const {
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  if (::getsockname(native_descriptor(), reinterpret_cast<sockaddr*>(&local), &length) < 0)
    throw io_error(last_error(), "local_address", socket_->peer.string());
  return address::from_raw(&local, length);
}

void tcp_stream::set_no_delay(bool on) { set_option(*socket_, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0, "set_no_delay"); }
void tcp_stream::set_keep_alive(bool on) {
  set_option(*socket_, SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0, "set_keep_alive");
}
void tcp_stream::set_send_buffer_size(int bytes) {
  set_option(*socket_, SOL_SOCKET, SO_SNDBUF, bytes, "set_send_buffer_size");
}
void tcp_stream::set_receive_buffer_size(int bytes) {
  set_option(*socket_, SOL_SOCKET, SO_RCVBUF, bytes, "set_receive_buffer_size");
}
void tcp_stream::set_reset_on_close(bool on) {
  const linger value{.l_onoff = on ? 1 : 0, .l_linger = 0};
  if (::setsockopt(native_descriptor(), SOL_SOCKET, SO_LINGER, &value, sizeof(value)) < 0)
    throw io_error(last_error(), "set_reset_on_close", socket_->peer.string());
}

}  // namespace gyre
