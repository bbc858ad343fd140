// tests/tls/conversation.hpp: whole texts through an encrypted stream, and a server that receives them.
#pragma once

#include "tests/tls/tls_pair.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace gyre_test {

inline std::string random_text(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  unsigned state = seed * 2'654'435'761U + 1;
  for (char& each : text) {
    state = state * 1'664'525U + 1'013'904'223U;
    each = static_cast<char>(state >> 24U);
  }
  return text;
}

inline gyre::task<std::string> read_to_end(tls::stream& from) {
  std::string all;
  std::array<char, 5000> buffer{};
  while (const std::size_t n = co_await from.read_some(std::span<char>(buffer))) all.append(buffer.data(), n);
  co_return all;
}

inline gyre::task<> write_and_end(tls::stream& to, std::string_view text) {
  co_await to.write_all(text);
  co_await to.shutdown_write();
}

/// A server on this loop that serves each connection with `handler`.
struct tls_server {
  tls::listener listener = tls::listener::bind("127.0.0.1:0", tls::server_config(server_with_certificate()));
  tls::client_config trusts{client_that_trusts()};
  gyre::task_handle<> serving;

  template <class Handler>
  explicit tls_server(Handler handler, gyre::serve_options options = {})
      : serving(gyre::spawn(listener.serve(std::move(handler), options))) {}

  gyre::task<tls::stream> connect() { co_return co_await tls::connect(listener.local_address().string(), trusts); }
  gyre::task<> cancel() {
    serving.cancel();
    co_await serving.wait();
  }
};

}  // namespace gyre_test
