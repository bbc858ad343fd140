// tests/tls/tls_pair.hpp: both ends of an encrypted connection, over TCP or over memory.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/tls.hpp>

#include "tests/support/body_ref.hpp"
#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace gyre_test {

using namespace std::chrono_literals;
namespace tls = gyre::tls;

/// Made once: a key takes time.
inline const tls::certificate& certificate_of_server() {
  static const auto made = tls::certificate::self_signed({"server.test", "*.wild.test", "127.0.0.1"});
  return made;
}

inline tls::server_options server_with_certificate() {
  tls::server_options options;
  options.certificates.push_back(certificate_of_server());
  return options;
}

inline tls::client_options client_that_trusts() {
  tls::client_options options;
  options.authorities = certificate_of_server().chain;
  return options;
}

struct tls_pair {
  tls::stream client;
  tls::stream server;
};

/// Both handshakes over memory. Throws the failure of one of them, or an exception_group of both.
inline gyre::task<tls_pair> shake_hands(const tls::server_config& servers, const tls::client_config& clients,
                                        std::string host = "server.test", std::size_t capacity = 65'536) {
  gyre::memory_pair ends(capacity);
  auto both = gyre::gather(tls::accept(std::move(ends.first), servers),
                           tls::connect(std::move(ends.second), std::move(host), clients));
  auto made = co_await std::move(both);
  co_return tls_pair{std::move(made.template get<1>()), std::move(made.template get<0>())};
}
inline gyre::task<tls_pair> shake_hands(tls::server_options server = server_with_certificate(),
                                        tls::client_options client = client_that_trusts(),
                                        std::string host = "server.test", std::size_t capacity = 65'536) {
  const tls::server_config servers(server);
  const tls::client_config clients(client);
  co_return co_await shake_hands(servers, clients, std::move(host), capacity);
}

/// The same, and one byte for the client, because tickets come with the data.
inline gyre::task<tls_pair> shake_hands_for_a_ticket(const tls::server_config& servers,
                                                     const tls::client_config& clients,
                                                     std::string host = "server.test") {
  tls_pair pair = co_await shake_hands(servers, clients, std::move(host));
  co_await pair.server.write_all("x");
  std::array<char, 1> byte{};
  (void)co_await pair.client.read_exactly(std::span<char>(byte));
  co_return pair;
}

/// The errors that the client and the server report about a handshake; empty for a side that reports none.
struct refusals {
  std::string client;
  std::string server;
};

inline gyre::task<refusals> refused(tls::server_options server, tls::client_options client,
                                    std::string host = "server.test") {
  gyre::memory_pair ends;
  const tls::server_config servers(server);
  const tls::client_config clients(client);
  refusals all;
  // Reads once, because in TLS 1.3 a client learns only then that the server has refused it.
  auto serve = [&]() -> gyre::task<> {
    try {
      auto stream = co_await tls::accept(std::move(ends.first), servers);
      co_await stream.shutdown_write();
      std::array<std::byte, 1> byte{};
      (void)co_await stream.read_some(std::span<std::byte>(byte));
    } catch (const std::exception& failure) {
      all.server = failure.what();
    }
  };
  auto ask = [&]() -> gyre::task<> {
    try {
      auto stream = co_await tls::connect(std::move(ends.second), host, clients);
      std::array<std::byte, 1> byte{};
      (void)co_await stream.read_some(std::span<std::byte>(byte));
      co_await stream.shutdown_write();
    } catch (const std::exception& failure) {
      all.client = failure.what();
    }
  };
  auto both = gyre::gather(serve(), ask());
  co_await std::move(both);
  co_return all;
}

inline void run_tls(body_ref<> body) { EXPECT_NO_THROW(gyre::run(gyre::timeout(60s, body()))); }

}  // namespace gyre_test
