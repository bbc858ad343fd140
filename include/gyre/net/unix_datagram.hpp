// gyre/net/unix_datagram.hpp: datagrams between processes of one machine. unix(7).
#pragma once

#include <gyre/net/datagram_socket.hpp>
#include <gyre/net/unix_address.hpp>

#include <utility>

namespace gyre {

struct unix_datagram_pair;

/// A Unix datagram socket. Nothing is lost or reordered; a sender waits while the receiver is full. The destructor
/// removes the file that the socket is bound to. Its base, datagram_socket in gyre/net/datagram_socket.hpp, has the
/// functions that send, receive and cancel.
class GYRE_API unix_datagram : public datagram_socket<unix_address> {
 public:
  /// Binds to a path or an abstract name. Errors: io_error "unix_datagram /run/x: Address already in use".
  [[nodiscard]] static unix_datagram bind(const unix_address& local);
  /// An unnamed socket that sends to one peer. Errors: io_error.
  [[nodiscard]] static unix_datagram connected(const unix_address& peer);
  /// Makes two connected sockets. Errors: io_error. See socketpair(2).
  [[nodiscard]] static unix_datagram_pair pair();

  unix_datagram(unix_datagram&& other) noexcept
      : datagram_socket(std::move(other)),          // only the base is moved
        local_(std::exchange(other.local_, {})) {}  // NOLINT(bugprone-use-after-move)
  unix_datagram& operator=(unix_datagram&& other) noexcept {
    unix_datagram moved(std::move(other));
    std::swap(socket_, moved.socket_);
    std::swap(local_, moved.local_);
    return *this;
  }
  ~unix_datagram();

  [[nodiscard]] const unix_address& local_address() const noexcept { return local_; }

 private:
  unix_datagram(datagram_state& socket, const unix_address& local) noexcept : datagram_socket(socket), local_(local) {}

  unix_address local_;
};

struct unix_datagram_pair {
  unix_datagram first;
  unix_datagram second;
};

}  // namespace gyre
