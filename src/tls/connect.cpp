// src/tls/connect.cpp: opens an encrypted connection to "host:port".
#include <gyre/net/host_port.hpp>
#include <gyre/tls/connect.hpp>

#include <string_view>
#include <utility>

namespace gyre::tls {

task<stream> connect(std::string host_and_port, client_config config) {
  const auto parts = host_port::parse(host_and_port);
  std::string host(parts ? parts->host : std::string_view());
  tcp_stream below = co_await tcp_stream::connect(host_and_port);
  co_return co_await handshake_as_client(make_transport(std::move(below)), std::move(config), std::move(host),
                                         std::move(host_and_port));
}

}  // namespace gyre::tls
