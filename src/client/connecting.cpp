// src/client/connecting.cpp: opens a connection, directly or through a proxy.
#include "connecting.hpp"

#include <gyre/loop/timeout_op.hpp>
#include <gyre/net/unix_stream.hpp>
#include <gyre/tasks/timeout.hpp>

#include "client_state.hpp"
#include "tunnel.hpp"

#include <array>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

// ALPN of RFC 7301, in the order of preference.
constexpr std::array<const char*, 1> spoken{"http/1.1"};

std::string subject_of(const new_connection& wanted) {
  std::string text(wanted.request.method);
  return text.append(" ").append(wanted.request.whole_url());
}

task<connection_owner> open_tunnel_or_socket(const new_connection& wanted) {
  const client_options& options = wanted.state.options();
  const url& target = wanted.request.url;
  const io::monotonic_time now = event_loop::current().recent();
  if (options.connector) {
    auto stream = co_await options.connector(target);
    co_return connection_owner(new client_connection(std::move(stream), now));
  }
  if (!options.unix_socket.empty()) {
    auto stream = co_await unix_stream::connect(unix_address(options.unix_socket));
    co_return connection_owner(new client_connection(std::move(stream), now));
  }
  const url* const proxy = wanted.proxy;
  const url& first = proxy == nullptr ? target : *proxy;
  auto finding = wanted.state.names.find(first.host(), first.port(), options.resolving, options.limits.names);
  auto addresses = co_await std::move(finding);
  connection_owner made;
  try {
    auto stream = co_await connect_to_first(std::move(addresses), options.connecting);
    made = connection_owner(new client_connection(std::move(stream), event_loop::current().recent()));
  } catch (const io_error& error) {
    wanted.state.names.forget(first.host());
    if (proxy != nullptr) fail_through(*proxy, target, error.code());
    throw;
  }
  if (proxy == nullptr || reads_requests(proxy, target)) co_return made;
  auto tunnel = proxy->scheme() == "http" ? open_http_tunnel(made->socket(), *proxy, target)
                                          : open_socks_tunnel(made->socket(), *proxy, target, options.resolving);
  co_await std::move(tunnel);
  co_return made;
}

}  // namespace

std::vector<std::string> spoken_protocols() { return {spoken.begin(), spoken.end()}; }

task<connection_owner> connect(const new_connection& wanted) {
  const client_options& options = wanted.state.options();
  const phase_clock& clock = wanted.clock;
  connection_owner made;
  try {
    auto limited = gyre::timeout(clock.clamped(options.timeouts.connect), open_tunnel_or_socket(wanted));
    made = co_await std::move(limited);
  } catch (const timed_out&) {
    std::string text = subject_of(wanted) + " (connecting";
    if (wanted.proxy != nullptr) text.append(" through ").append(wanted.proxy->origin());
    throw timed_out(clock.is_total_over() ? clock.total() : options.timeouts.connect, text + ")");
  }
  ++wanted.state.opened;
  if (wanted.request.url.scheme() != "https" || options.connector.secure()) co_return made;
  try {
    const tls::client_config& config =
        wanted.identified ? wanted.state.tls_config() : wanted.state.tls_config_without_identity();
    auto handshake = made->encrypt(std::string(wanted.request.url.host()), config);
    auto limited = gyre::timeout(clock.clamped(options.timeouts.tls), std::move(handshake));
    co_await std::move(limited);
  } catch (const timed_out&) {
    throw timed_out(clock.is_total_over() ? clock.total() : options.timeouts.tls,
                    subject_of(wanted) + " (TLS handshake)");
  }
  co_return made;
}

}  // namespace gyre::http
