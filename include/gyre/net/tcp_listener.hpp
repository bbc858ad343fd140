// gyre/net/tcp_listener.hpp: accepts TCP connections, and serves them.
#pragma once

#include <gyre/net/interface_name.hpp>
#include <gyre/net/stream_listener.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <cstdint>
#include <string_view>

namespace gyre {

struct listen_options {
  int backlog = 4096;         ///< connections the kernel completes before they are accepted; see listen(2)
  bool reuse_address = true;  ///< bind although old connections linger on the port
  bool reuse_port = false;    ///< several listeners on one port, among which the kernel spreads connections
  bool only_ipv6 = false;     ///< an IPv6 listener does not take IPv4 connections
  bool no_delay = true;       ///< of the accepted sockets
  /// Of the accepted sockets: bytes that a write may leave with the kernel before they can be sent; with more it waits. Less:
  /// less memory for a slow client, more wake-ups. 0: as net.ipv4.tcp_notsent_lowat says, else up to the send buffer.
  /// A wish: where TCP_NOTSENT_LOWAT, see tcp(7), is not known it is not heard.
  std::uint32_t unsent_at_most = 1024 * 1024;
  interface_name interface = {};  ///< only connections that come in there, such as "eth0"; empty: anywhere
};

/// A listening TCP socket: see stream_listener for accepting and serving.
class GYRE_API tcp_listener : public stream_listener<tcp_stream> {
 public:
  /// Binds to an address and listens. Port 0: the kernel chooses; see local_address.
  /// Errors: io_error "listen 127.0.0.1:80: Permission denied"; std::invalid_argument for a negative backlog.
  static tcp_listener bind(const address& local, const listen_options& options = {});
  /// The same for "127.0.0.1:80", "[::]:80", ":80".
  static tcp_listener bind(std::string_view local, const listen_options& options = {});

  /// The address it is bound to, with the port that the kernel chose.
  [[nodiscard]] const address& local_address() const noexcept { return local_; }

 private:
  tcp_listener(listening_socket& socket, const address& local) noexcept : stream_listener(socket), local_(local) {}

  address local_;
};

}  // namespace gyre
