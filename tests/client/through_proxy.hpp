// tests/client/through_proxy.hpp: clients that send their requests through a proxy, and the messages that it reads.
#pragma once

#include "tests/client/scripted_server.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace gyre_test {

/// Options of a client that sends every request through this proxy.
inline http::client_options through(const std::string& proxy) {
  http::client_options options;
  options.proxies.for_http = options.proxies.for_https = http::url(proxy);
  return options;
}

/// Reads exactly so many bytes.
inline gyre::task<std::string> exact_bytes(peer& client, std::size_t count) {
  std::string text(count, '\0');
  auto reading = client.stream().read_exactly(std::span<char>(text));
  (void)co_await std::move(reading);
  co_return text;
}

}  // namespace gyre_test
