// gyre/net/tcp_listener.hpp: accepts TCP connections and serves them.
#pragma once

#include <gyre/net/interface_name.hpp>
#include <gyre/net/stream_listener.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <cstdint>
#include <string_view>

namespace gyre {

struct listen_options {
  int backlog = 4096;         ///< connections the kernel completes before they are accepted; see listen(2)
  bool reuse_address = true;  ///< bind even if old connections linger on the port
  bool reuse_port = false;    ///< several listeners on one port; the kernel distributes connections among them
  bool only_ipv6 = false;     ///< an IPv6 listener accepts no IPv4 connections
  bool no_delay = true;       ///< for the accepted sockets
  /// For the accepted sockets: the maximum number of unsent bytes that a write may leave in the kernel; with more it
  /// waits. A smaller value needs less memory for a slow client, and more wake-ups. 0 means net.ipv4.tcp_notsent_lowat,
  /// or else the send buffer size. Best effort: ignored where the kernel has no TCP_NOTSENT_LOWAT, see tcp(7).
  std::uint32_t max_unsent = 1024 * 1024;
  /// Accepts only connections that arrive on this interface, such as "eth0". Empty means any interface.
  interface_name interface = {};
};

/// A listening TCP socket: see stream_listener for accepting and serving.
class GYRE_API tcp_listener : public stream_listener<tcp_stream> {
 public:
  /// Binds to an address and listens. For port 0 the kernel chooses one; see local_address.
  /// Errors: io_error "listen 127.0.0.1:80: Permission denied"; std::invalid_argument for a negative backlog.
  static tcp_listener bind(const address& local, const listen_options& options = {});
  /// The same for "127.0.0.1:80", "[::]:80", ":80".
  static tcp_listener bind(std::string_view local, const listen_options& options = {});

  /// The address it is bound to, with the port that the kernel chose.
  [[nodiscard]] const address& local_address() const noexcept { return local_; }

 private:
  tcp_listener(listener_state& socket, const address& local) noexcept : stream_listener(socket), local_(local) {}

  address local_;
};

}  // namespace gyre
