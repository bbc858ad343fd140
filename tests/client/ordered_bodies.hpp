// tests/client/ordered_bodies.hpp: bodies of any size and framing, whole or broken, whose bytes show their positions.
#pragma once

#include <gyre/testing/run_test.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/net/stream_flow.hpp"
#include "tests/support/body_ref.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre_test {

inline gyre::io::pipe_pool& pipes() { return gyre::event_loop::current().backend().pipes(); }

/// Servers report the bodies that break here. The tests look at what the clients see.
inline void expect_failures() {
  gyre::event_loop::current().set_exception_handler([](const gyre::background_failure&, void*) noexcept {}, nullptr);
}

/// Runs `body` on real time, with buffers that are soon full, so that a stream soon proves to be bulk. Nothing may be
/// left at the end.
inline void run_bulk(body_ref<> body) {
  gyre::testing::test_options real;
  real.loop.virtual_time = false;
  real.loop.backend.large_buffer_size = 16 * 1024;
  const auto checked = [body]() -> gyre::task<> {
    expect_failures();
    co_await body();
    for (int n = 0; n < 1000 && pipes().worth_it(); ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_FALSE(pipes().worth_it()) << "nobody moves bulk any more";
  };
  EXPECT_NO_THROW(gyre::testing::run_test(checked, real));
}

/// Bytes that show their position. See byte_at().
inline std::string patterned(unsigned seed, std::size_t from, std::size_t size) {
  std::string text(size, '\0');
  fill(std::as_writable_bytes(std::span(text)), seed, from);
  return text;
}

/// "/KIND/SEED/SIZE". The kinds of bodies that the origin gives:
///   sized, chunked, end   in this framing; the end of the connection ends the last
///   short, reset, stall   half of a sized body, then the end, a reset, or nothing
///   more                  a sized body, and as many bytes that do not belong to it
/// And those of the bodies that it takes:
///   take                  answers "taken"
///   slow, slower          the same, 100 KB every 20 or 60 ms
///   mute                  takes the body, and never answers
///   early                 takes a part of the body, answers 413, and goes on taking
///   reset, stall          takes a part, and then resets the connection, or does nothing more
struct ordered_body {
  std::string kind;
  unsigned seed;
  std::size_t size;

  // g++ 12 destroys an aggregate twice that is made in an awaited expression.
  ordered_body(std::string wanted_kind, unsigned wanted_seed, std::size_t wanted_size)
      : kind(std::move(wanted_kind)), seed(wanted_seed), size(wanted_size) {}

  static ordered_body of(std::string_view request) {
    const std::size_t kind = request.find('/') + 1;
    const std::size_t seed = request.find('/', kind) + 1;
    const std::size_t size = request.find('/', seed) + 1;
    return {std::string(request.substr(kind, seed - kind - 1)),
            static_cast<unsigned>(std::stoul(std::string(request.substr(seed)))),
            std::stoul(std::string(request.substr(size)))};
  }
  [[nodiscard]] std::string target() const {
    return "/" + kind + "/" + std::to_string(seed) + "/" + std::to_string(size);
  }
};

}  // namespace gyre_test
