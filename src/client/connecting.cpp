// src/client/connecting.cpp: gets a connection: an idle one, or a new one.
#include <gyre/loop/timeout_op.hpp>
#include <gyre/net/unix_stream.hpp>
#include <gyre/tasks/timeout.hpp>

#include "client_exchange.hpp"
#include "tunnel.hpp"

namespace gyre::http {
namespace {

struct counted {
  explicit counted(std::size_t& value) noexcept : value_(value) { ++value_; }
  counted& operator=(counted&&) = delete;
  ~counted() { --value_; }

 private:
  std::size_t& value_;
};
}  // namespace

task<> client_exchange::acquire() {
  if (origin_ == nullptr) {
    const bool direct = !state_.options().unix_socket.empty() || state_.options().connector;
    proxy_ = direct ? nullptr : state_.options().proxies.find(request.url);
    const bool anonymous = hides_identity();
    if (proxy_ == nullptr && !anonymous) {
      origin_ = &state_.join(request.url.origin());
    } else {
      std::string key(request.url.origin());
      if (proxy_ != nullptr) key.append(" through ").append(proxy_->origin());
      if (anonymous) key.append(" without a certificate");
      origin_ = &state_.join(key);
    }
    if (!origin_->slots.try_acquire()) co_await wait_for_slot();
    has_slot_ = true;
  }
  if (state_.closed()) fail(client_errc::client_closed);
  for (;;) {
    conn_ = connection_owner(state_.pop_idle(*origin_));
    if (!conn_) break;
    if (conn_->watched_by_task()) {
      if (co_await conn_->unwatch()) co_return;
    } else if (conn_->unwatch_now()) {
      co_return;
    }
    conn_.reset();
  }
  co_await dial();
}

// A redirect has led to another origin, which must not learn the certificate of the client.
bool client_exchange::hides_identity() {
  return !identified_ && request.url.scheme() == "https" && state_.tls_config().has_identity();
}

task<> client_exchange::wait_for_slot() {
  const std::chrono::nanoseconds limit = state_.options().timeouts.queue;
  const counted waiting(origin_->waiting);
  try {
    auto slot = gyre::timeout(clock_.clamped(limit), origin_->slots.acquire());
    co_await std::move(slot);
  } catch (const timed_out&) {
    throw timed_out(clock_.is_total_over() ? clock_.total() : limit, subject() + " (waiting for a connection)");
  }
}

task<> client_exchange::dial() {
  const client_options& options = state_.options();
  try {
    auto limited = gyre::timeout(clock_.clamped(options.timeouts.connect), open_socket());
    co_await std::move(limited);
  } catch (const timed_out&) {
    std::string text = subject() + " (connecting";
    if (proxy_ != nullptr) text.append(" through ").append(proxy_->origin());
    throw timed_out(clock_.is_total_over() ? clock_.total() : options.timeouts.connect, text + ")");
  }
  ++state_.opened;
  if (request.url.scheme() != "https" || options.connector.secure()) co_return;
  try {
    const tls::client_config& config = identified_ ? state_.tls_config() : state_.tls_config_without_identity();
    auto handshake = conn_->encrypt(std::string(request.url.host()), config);
    auto limited = gyre::timeout(clock_.clamped(options.timeouts.tls), std::move(handshake));
    co_await std::move(limited);
  } catch (const timed_out&) {
    throw timed_out(clock_.is_total_over() ? clock_.total() : options.timeouts.tls, subject() + " (TLS handshake)");
  }
}

task<> client_exchange::open_socket() {
  const client_options& options = state_.options();
  event_loop& loop = event_loop::current();
  if (options.connector) {
    auto stream = co_await options.connector(request.url);
    conn_ = connection_owner(new client_connection(std::move(stream), loop.recent()));
  } else if (options.unix_socket.empty()) {
    const url& first = proxy_ == nullptr ? request.url : *proxy_;
    auto finding = state_.names.find(first.host(), first.port(), options.resolving, options.limits.names);
    auto addresses = co_await std::move(finding);
    try {
      auto stream = co_await connect_to_first(std::move(addresses), options.connecting);
      conn_ = connection_owner(new client_connection(std::move(stream), loop.recent()));
    } catch (const io_error& error) {
      state_.names.forget(first.host());
      if (proxy_ != nullptr) fail_through(*proxy_, request.url, error.code());
      throw;
    }
    if (proxy_ == nullptr || reading_proxy() != nullptr) co_return;
    auto tunnel = proxy_->scheme() == "http"
                      ? open_http_tunnel(conn_->socket(), *proxy_, request.url)
                      : open_socks_tunnel(conn_->socket(), *proxy_, request.url, options.resolving);
    co_await std::move(tunnel);
  } else {
    auto stream = co_await unix_stream::connect(unix_address(options.unix_socket));
    conn_ = connection_owner(new client_connection(std::move(stream), loop.recent()));
  }
}

}  // namespace gyre::http
