// tests/interop/asio_support.hpp: operations that complete when a test completes them, and connections.
#pragma once

#include <gyre/interop/asio.hpp>

#include "tests/support/virtual_run.hpp"

#include <asio.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace gyre_test {

using tcp = asio::ip::tcp;

/// Operations that are begun here and completed by the test. They use the executor of a context, if there is one.
struct by_hand {
  std::function<void(std::error_code, std::size_t)> complete;
  std::function<void()> drop;
  int begun = 0;
  int asked = 0;

  template <class Token>
  auto async_wait(Token&& token) {
    auto begin = [this](auto handler) {
      ++begun;
      auto slot = asio::get_associated_cancellation_slot(handler);
      auto kept = std::make_shared<decltype(handler)>(std::move(handler));
      complete = [kept](std::error_code error, std::size_t n) { std::move (*kept)(error, n); };
      drop = [this, kept]() mutable {
        kept.reset();
        complete = nullptr;
      };
      if (slot.is_connected())
        slot.assign([this](asio::cancellation_type_t type) {
          EXPECT_EQ(type, asio::cancellation_type::all);
          ++asked;
        });
    };
    return asio::async_initiate<Token, void(std::error_code, std::size_t)>(std::move(begin), token);
  }
};

inline tcp::endpoint any_port() { return {asio::ip::address_v4::loopback(), 0}; }

inline std::string address_of(const tcp::acceptor& acceptor) {
  return "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
}

struct asio_pair {
  explicit asio_pair(asio::io_context& context) : client(context), server(context) {
    tcp::acceptor acceptor(context, any_port());
    client.connect(acceptor.local_endpoint());
    acceptor.accept(server);
  }
  tcp::socket client;
  tcp::socket server;
};

}  // namespace gyre_test
