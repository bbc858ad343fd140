// tests/tls/https_server.hpp: an HTTP server over TLS on a local port, and its clients.
#pragma once

#include "tests/http/socket_server.hpp"
#include "tests/tls/tls_pair.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace gyre_test {

using https_client = http_client<tls::stream>;

inline http::server_options over_tls(http::handler routes, tls::server_options settings = server_with_certificate()) {
  http::server_options options = options_for(std::move(routes));
  options.encryption = tls::server_sessions(tls::server_config(settings));
  return options;
}

/// Connects without a handshake.
inline gyre::task<gyre::tcp_stream> connect_to(socket_server& server) {
  co_return co_await gyre::tcp_stream::connect(server.server().where());
}

inline gyre::task<https_client> connect_over_tls(std::string where,
                                                 tls::client_options settings = client_that_trusts()) {
  auto below = co_await gyre::tcp_stream::connect(where);
  const tls::client_config config(settings);
  auto stream = co_await tls::connect(std::move(below), "server.test", config);
  co_return https_client(std::move(stream));
}
inline gyre::task<https_client> connect_over_tls(socket_server& server,
                                                 tls::client_options settings = client_that_trusts()) {
  co_return co_await connect_over_tls(server.server().where(), std::move(settings));
}

inline gyre::task<http_answer> get_over_tls(socket_server& server, std::string target,
                                            tls::client_options settings = client_that_trusts()) {
  auto client = co_await connect_over_tls(server, std::move(settings));
  co_await client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
  co_return co_await client.answer();
}

/// Runs `clients(where)`, which returns a task<>, on a thread of its own, beside a server on this one.
template <class F>
void run_beside_server(http::server_options options, F clients) {
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    gyre::event done;
    gyre::event_loop& loop = gyre::event_loop::current();
    std::jthread thread([&, where = server.server().where()] {
      run_real([&]() -> gyre::task<> { co_await clients(where); });
      loop.post([&done] { done.set(); });
    });
    co_await done.wait();
  });
}

inline gyre::task<bool> is_closed_without_an_answer(gyre::tcp_stream& client) {
  std::array<std::byte, 100> buffer{};
  const auto got = co_await gyre::as_expected(client.read_some(std::span<std::byte>(buffer)));
  co_return !got || *got == 0;
}

/// The beginning of a client's first message: the server waits for the rest.
inline const std::string beginning_of_handshake("\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03", 11);

}  // namespace gyre_test
