// tests/tls/other_loop_threads_test.cpp: a TLS stream that the loops of several threads use.
#include "tests/support/two_loops.hpp"
#include "tests/tls/tls_pair.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <thread>

using namespace gyre_test;
using gyre::task;

namespace {

std::array<std::byte, 4> room;

/// Makes a connection, whose client has received bytes, and uses that end on the loop of another thread.
template <class Use>
void use_elsewhere(Use use) {
  run_tls([&]() -> task<> {
    auto ends = co_await shake_hands();
    co_await ends.server.write_all("many bytes");
    (void)co_await ends.client.read_some(std::span<std::byte>(room));  // the rest is decrypted already
    std::thread([&] { gyre::run([&]() -> task<> { co_await use(ends.client); }); }).join();
  });
}

}  // namespace

TEST(other_loop_tls_death, a_stream_that_another_loop_uses_stops_the_program) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const char* const name = "a TLS stream";
  EXPECT_DEATH(use_elsewhere([](tls::stream& s) -> task<> { (void)co_await s.read_some(std::span<std::byte>(room)); }),
               elsewhere("read_some", name));
  EXPECT_DEATH(
      use_elsewhere([](tls::stream& s) -> task<> { (void)co_await s.read_exactly(std::span<std::byte>(room)); }),
      elsewhere("read_some", name));
  EXPECT_DEATH(use_elsewhere([](tls::stream& s) -> task<> { co_await s.write_all("x"); }),
               elsewhere("write_all", name));
  EXPECT_DEATH(use_elsewhere([](tls::stream& s) -> task<> { co_await s.shutdown_write(); }),
               elsewhere("shutdown_write", name));
  const auto abort = [](tls::stream& s) -> task<> {
    s.abort();
    co_return;
  };
  EXPECT_DEATH(use_elsewhere(abort), elsewhere("abort", name));
}
