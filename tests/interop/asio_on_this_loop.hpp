// tests/interop/asio_on_this_loop.hpp: runs an io_context on the thread of the loop.
#pragma once

#include <gyre/interop/asio.hpp>
#include <gyre/runtime/run.hpp>

#include <gtest/gtest.h>

namespace gyre_test {

/// Runs `body(context)` with the context on the thread of the loop.
template <class Body>
void run_with_context(Body body) {
  auto all = [&]() -> gyre::task<> {
    gyre::asio_on_loop asio_side;
    co_await body(asio_side.context());
  };
  EXPECT_NO_THROW(gyre::run(all));
}

}  // namespace gyre_test
