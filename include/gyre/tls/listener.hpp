// gyre/tls/listener.hpp: accepts encrypted connections and serves them.
#pragma once

#include <gyre/net/tcp_listener.hpp>
#include <gyre/tls/stream.hpp>

#include <concepts>
#include <string_view>
#include <utility>

namespace gyre::tls {

/// A listening TCP socket whose connections begin with a handshake, each in a task of its own: a client that does not
/// finish it delays nobody.
///
/// Thread: that of its loop, as for tcp_listener.
class listener {
 public:
  /// Errors: those of tcp_listener::bind.
  static listener bind(std::string_view local, server_config config, const listen_options& options = {}) {
    return listener(tcp_listener::bind(local, options), std::move(config));
  }
  listener(tcp_listener below, server_config config) : below_(std::move(below)), config_(std::move(config)) {}

  /// Runs `handler(tls::stream)`, which returns a task<>, for each connection whose handshake succeeds. Everything else
  /// is as for stream_listener::serve. The exception of a failed handshake is reported like one of the handler.
  ///
  /// Cancel: same as stream_listener::serve. Errors: same.
  template <class Handler>
    requires std::invocable<Handler&, stream>
  [[nodiscard]] task<> serve(Handler handler, serve_options options = {}) {
    auto serve_one = [this, handler = std::move(handler)](tcp_stream peer) mutable -> task<> {
      stream encrypted = co_await accept(std::move(peer), config_);
      co_await handler(std::move(encrypted));
    };
    co_await below_.serve(std::move(serve_one), options);
  }

  [[nodiscard]] const address& local_address() const noexcept { return below_.local_address(); }
  /// The configuration of connections that are accepted from now on. Thread: that of the listener, when it serves on
  /// one loop.
  void set_config(server_config next) noexcept { config_ = std::move(next); }

 private:
  tcp_listener below_;
  server_config config_;
};

}  // namespace gyre::tls
