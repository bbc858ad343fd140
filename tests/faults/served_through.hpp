// tests/faults/served_through.hpp: a server that must survive a failure in one of its connections.
#pragma once

#include "tests/faults/injector.hpp"

#include <exception>
#include <utility>

namespace gyre_test {

/// Runs `serving` beside two clients; `talk()` returns the task<> of one. Something fails while the first client talks.
/// The server must survive that and serve the second one.
template <class Talk>
gyre::task<> serve_through(fault_injection& f, gyre::task<> serving, Talk talk) {
  auto server = gyre::spawn(std::move(serving), {.name = "server"});
  co_await gyre::yield();
  std::exception_ptr failure;
  try {
    f.arm();
    co_await talk();
  } catch (...) {
    failure = std::current_exception();
  }
  f.disarm();
  EXPECT_FALSE(server.done()) << "the server has ended";
  const auto outcome = co_await gyre::as_result(talk());
  if (!outcome) {
    try {
      std::rethrow_exception(outcome.error());
    } catch (const std::exception& error) {
      ADD_FAILURE() << "the server does not serve any more: " << error.what();
    }
  }
  server.cancel();
  co_await server.wait();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gyre_test
