// gyre/net/tcp_stream.hpp: a connected TCP socket.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/interface_name.hpp>
#include <gyre/net/socket_stream.hpp>

#include <string>

namespace gyre {

struct connect_options {
  /// The local address to connect from. For port 0 the kernel chooses one. Empty means that the kernel chooses both.
  address local = {};
  /// The network interface to use, such as "eth0". Empty means that the routes decide. See SO_BINDTODEVICE in
  /// socket(7).
  interface_name interface = {};
};

/// A connected TCP socket, used as a stream of bytes. Its base, socket_stream in gyre/net/socket_stream.hpp, has the
/// functions that read, write, close and cancel.
///
/// Nagle's algorithm is off. Thread: belongs to the loop it was made on.
class GYRE_API tcp_stream : public socket_stream {
 public:
  tcp_stream() noexcept = default;
  /// Takes over a connected TCP descriptor and makes it non-blocking. Closes it on failure.
  /// Errors: io_error "from_fd 7: Transport endpoint is not connected"; "Protocol wrong type for socket" for a socket
  /// that is not a stream.
  static tcp_stream from_fd(int fd) { return tcp_stream(socket_state::adopt(fd)); }
  explicit tcp_stream(socket_state& socket) noexcept : socket_stream(socket) {}

  /// Connects to an address.
  ///
  /// Cancel: the attempt is abandoned and the socket closed. Errors: io_error "connect 10.0.0.7:443: Connection
  /// refused".
  [[nodiscard]] static task<tcp_stream> connect(address peer, connect_options options = {});

  /// Resolves "host:port" and connects to the address that answers first (happy_eyeballs).
  ///
  /// Cancel: same as above; does not wait for the resolver. Errors: io_error of the resolver or of the first attempt.
  [[nodiscard]] static task<tcp_stream> connect(std::string host_and_port, connect_options options = {});

  /// An IPv4 client of a listener on "[::]:80" has its IPv4 address.
  [[nodiscard]] const address& peer_address() const noexcept {
    socket_->expect_open("peer_address");
    return socket_->peer;
  }
  /// Errors: io_error. See getsockname(2).
  [[nodiscard]] address local_address() const;

  /// Sets an option, see tcp(7) and socket(7). Errors: io_error with the option's name.
  void set_no_delay(bool on);
  void set_keep_alive(bool on);
  /// Destroying or closing the stream resets the connection: the peer sees an error instead of an end.
  void set_reset_on_close(bool on);
};

static_assert(byte_stream<tcp_stream>);

}  // namespace gyre
