// gyre/tls/listener.hpp: accepts encrypted connections and serves them.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/loop/loop_local.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/tls/pending_handshakes.hpp>
#include <gyre/tls/stream.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gyre::tls {

/// A listening TCP socket whose connections begin with a handshake, each in a task of its own: a client that does not
/// finish it delays nobody.
///
/// Thread: that of its loop, as for tcp_listener.
class listener {
 public:
  /// Errors: same as tcp_listener::bind.
  static listener bind(std::string_view local, server_config config, const listen_options& options = {}) {
    return listener(tcp_listener::bind(local, options), std::move(config));
  }
  listener(tcp_listener below, server_config config)
      : below_(std::move(below)), config_(std::move(config)), pending_(new loop_local<pending_handshakes>()) {}

  /// Runs `handler(tls::stream)`, which returns a task<>, for each connection whose handshake succeeds. Everything else
  /// is as for stream_listener::serve. A failed handshake is reported like an exception of the handler, at most once a
  /// second on each loop.
  ///
  /// Cancel: same as stream_listener::serve. Errors: same.
  template <class Handler>
    requires std::invocable<Handler&, stream>
  [[nodiscard]] task<> serve(Handler handler, serve_options options = {}) {
    auto serve_one = [this, handler = std::move(handler)](tcp_stream peer) mutable -> task<> {
      pending_handshakes& pending = **pending_;
      auto shaking = pending.run(std::move(peer), config_, max_handshakes_);
      stream encrypted = co_await std::move(shaking);
      if (!encrypted) co_return;
      auto serving = handler(std::move(encrypted));
      co_await std::move(serving);
    };
    co_await below_.serve(std::move(serve_one), options);
  }

  [[nodiscard]] const address& local_address() const noexcept { return below_.local_address(); }
  /// The configuration of connections that are accepted from now on. Thread: that of the listener, when it serves on
  /// one loop.
  void set_config(server_config next) noexcept { config_ = std::move(next); }
  /// The most handshakes in progress on each loop, at least 1. A further one makes the listener give up the oldest.
  /// To be called before it serves.
  void limit_handshakes(std::size_t max) noexcept { max_handshakes_ = max; }

 private:
  tcp_listener below_;
  server_config config_;
  std::size_t max_handshakes_ = 1024;
  owned<loop_local<pending_handshakes>*, delete_target> pending_;
};

}  // namespace gyre::tls
