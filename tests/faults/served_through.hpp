// tests/faults/served_through.hpp: a server that must survive a failure in one of its connections.
#pragma once

#include "tests/faults/injector.hpp"
#include "tests/support/error_of.hpp"

#include <string>
#include <utility>

namespace gyre_test {

/// Runs `serving` beside two clients; `talk()` returns the task<> of one. Something fails while the first client talks.
/// The server must survive that and serve the second one.
template <class Talk>
gyre::task<> serve_through(fault_injection& f, gyre::task<> serving, Talk talk) {
  auto server = gyre::spawn(std::move(serving), {.name = "server"});
  co_await gyre::yield();
  const auto serves_on = [&](bool) -> gyre::task<> {
    EXPECT_FALSE(server.done()) << "the server has ended";
    const std::string error = co_await error_of(talk());
    EXPECT_EQ(error, "") << "the server does not serve any more";
    server.cancel();
    co_await server.wait();
  };
  co_await fail_and_check(f, talk, serves_on);
}

}  // namespace gyre_test
