// tests/http/over_tls.hpp: servers and clients that speak TLS when GYRE_TEST_OVER_TLS is in the environment.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <utility>

#include "tests/tls/tls_pair.hpp"

namespace gyre_test {

namespace http = gyre::http;

[[nodiscard]] inline bool over_tls() {
  static const bool wanted = std::getenv("GYRE_TEST_OVER_TLS") != nullptr;
  return wanted;
}

/// The end of a connection that a test may close or reset below TLS.
template <class Stream>
class lent_stream {
 public:
  explicit lent_stream(Stream& below) noexcept : below_(&below) {}
  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await below_->read_some(buffer); }
  gyre::task<> write_all(std::span<const std::byte> bytes) { (void)co_await below_->write_all(bytes); }
  gyre::task<> shutdown_write() { co_await below_->shutdown_write(); }
  void abort() noexcept { below_->abort(); }

 private:
  Stream* below_;
};

/// TLS over a stream of the test. The first operation does the handshake, also when two begin at the same time.
template <class Stream>
class encrypted_client {
 public:
  explicit encrypted_client(Stream& below) : below_(below) {}
  gyre::task<> write_all(std::span<const std::byte> bytes) {
    co_await shake_hands();
    (void)co_await stream_.write_all(bytes);
  }
  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) {
    co_await shake_hands();
    co_return co_await stream_.read_some(buffer);
  }
  gyre::task<> shutdown_write() {
    co_await shake_hands();
    co_await stream_.shutdown_write();
  }
  gyre::task<> shake_hands() {
    const auto one_at_a_time = co_await mutex_.scoped_lock();
    if (stream_) co_return;
    static const tls::client_config trusting(client_that_trusts());
    auto shaking = tls::connect(lent_stream<Stream>(below_), "server.test", trusting);
    stream_ = co_await std::move(shaking);
  }

 private:
  Stream& below_;
  gyre::mutex mutex_;
  tls::stream stream_;
};

[[nodiscard]] inline tls::server_config config_of_servers() {
  static const tls::server_config made(server_with_certificate());
  return made;
}

/// The options for a server that accepts connections.
[[nodiscard]] inline http::server_options encrypted(http::server_options options) {
  if (over_tls() && !options.encryption) options.encryption = tls::server_sessions(config_of_servers());
  return options;
}

/// The server's side of a connection that it is given.
inline gyre::task<> serve_given(http::server& server, gyre::any_stream stream) {
  if (over_tls()) {
    auto shaking = tls::accept(std::move(stream), config_of_servers());
    auto shaken = co_await gyre::as_expected(std::move(shaking));
    if (!shaken) co_return;  // the client has left
    stream = gyre::any_stream(*std::move(shaken));
  }
  co_await server.serve_connection(std::move(stream));
}

}  // namespace gyre_test
