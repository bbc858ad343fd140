// tests/interop/asio_support.hpp: operations that complete when a test completes them.
#pragma once

#include <gyre/interop/asio.hpp>

#include "tests/support/virtual_run.hpp"

#include <asio.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace gyre_test {

using tcp = asio::ip::tcp;

/// Operations that are begun here and completed by the test. They use the executor of a context, if there is one.
struct by_hand {
  std::function<void(std::error_code, std::size_t)> complete;
  std::function<void()> drop;
  int begun = 0;
  int asked = 0;
  bool completes_when_asked = true;

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
          if (completes_when_asked) complete(asio::error::operation_aborted, 0);
        });
    };
    return asio::async_initiate<Token, void(std::error_code, std::size_t)>(std::move(begin), token);
  }
};

}  // namespace gyre_test
