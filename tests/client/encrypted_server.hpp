// tests/client/encrypted_server.hpp: servers over TLS, with HTTP or a script of a test, and clients that trust them.
#pragma once

#include <gyre/tls.hpp>

#include "tests/client/scripted_server.hpp"

#include <array>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre_test {

namespace tls = gyre::tls;

inline const tls::certificate& certificate() {
  static const auto made = tls::certificate::self_signed({"127.0.0.1", "localhost"});
  return made;
}

inline http::client_options trusting() { return {.tls = tls::client_config({.authorities = certificate().chain})}; }

/// HTTPS by gyre's own server.
class https_server {
 public:
  explicit https_server(http::handler routes, const tls::certificate& shown = certificate())
      : listener_(tls::listener::bind("127.0.0.1:0", config(shown))), server_(options(std::move(routes))) {}
  [[nodiscard]] std::string url(std::string_view target = "/") const {
    return "https://" + listener_.local_address().string() + std::string(target);
  }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] int resumed() const noexcept { return resumed_; }
  gyre::task<> run() {
    auto handler = [this](tls::stream stream) -> gyre::task<> {
      ++connections_;
      if (stream.resumed()) ++resumed_;
      co_await server_.serve_connection(gyre::any_stream(std::move(stream)));
    };
    co_await listener_.serve(handler);
  }

 private:
  static tls::server_config config(const tls::certificate& shown) {
    tls::server_options options;
    options.certificates.push_back(shown);
    options.protocols = {"http/1.1"};
    return tls::server_config(options);
  }
  static http::server_options options(http::handler routes) {
    http::server_options made;
    made.routes = std::move(routes);
    made.listen.clear();
    return made;
  }
  tls::listener listener_;
  http::server server_;
  int connections_ = 0;
  int resumed_ = 0;
};

template <class Body>
void with_https(http::handler routes, Body body, const tls::certificate& shown = certificate()) {
  run_real([&]() -> gyre::task<> {
    https_server server(std::move(routes), shown);
    auto serving = gyre::spawn(server.run());
    const auto outcome = co_await gyre::as_result(body(server));
    serving.cancel();
    co_await serving.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

inline gyre::task<http::response> repeat_request(http::request& request) {
  const std::string text = co_await request.body().read_all();
  co_return http::response::text(std::string(request.method()) + " " + std::string(request.target()) + " " + text);
}

/// Waits until the client leaves.
inline gyre::task<> until_gone(tls::stream& stream) {
  std::array<char, 100> buffer{};
  auto reading = stream.read_some(std::span<char>(buffer));
  (void)co_await gyre::as_expected(std::move(reading));
}

/// Runs `body(url)` beside a server over TLS that runs `script(stream)` once a request has come.
template <class Script, class Body>
void with_tls_script(Script script, Body body) {
  run_real([&]() -> gyre::task<> {
    tls::server_options options;
    options.certificates.push_back(certificate());
    auto listener = tls::listener::bind("127.0.0.1:0", tls::server_config(options));
    auto answer = [&script](tls::stream stream) -> gyre::task<> {
      std::array<char, 4096> buffer{};
      (void)co_await stream.read_some(std::as_writable_bytes(std::span(buffer)));
      co_await script(stream);
    };
    auto serving = gyre::spawn(listener.serve(answer));
    const auto outcome = co_await gyre::as_result(body("https://" + listener.local_address().string() + "/"));
    serving.cancel();
    co_await serving.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

}  // namespace gyre_test
