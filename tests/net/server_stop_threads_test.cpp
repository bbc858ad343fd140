// tests/net/server_stop_threads_test.cpp: servers on the loops of several threads stop with the program.
#include <gyre/net/tcp_listener.hpp>

#include <gyre/gyre.hpp>

#include "tests/net/echo.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <array>
#include <atomic>
#include <csignal>
#include <latch>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

/// Serves on the loop of a separate thread, and connects to itself so that there is a connection to drain.
gyre::task<> serve_a_client(std::latch& serving, std::atomic<int>& drained) {
  test_server server(echo);
  auto client = co_await server.connect();
  std::array<std::byte, 4> reply{};
  co_await client.write_all("ping");
  co_await client.read_exactly(reply);
  serving.count_down();
  co_await server.serving;  // returns normally
  ++drained;
}

}  // namespace

TEST(server_stop_threads, the_servers_of_all_threads_drain_and_the_main_task_goes_on) {
  constexpr int threads = 3;
  std::atomic<int> drained{0};
  const int code = gyre::run_main([](std::atomic<int>& ended) -> gyre::task<int> {
    std::latch serving(threads);
    std::vector<std::thread> workers;
    workers.reserve(threads);
    for (int i = 0; i < threads; ++i) workers.emplace_back([&] { gyre::run(serve_a_client(serving, ended)); });
    auto join_all = [&] {
      for (auto& each : workers) each.join();
    };
    auto started = [&] { serving.wait(); };
    co_await gyre::to_thread(started);
    ::raise(SIGTERM);  // this loop does not watch for signals
    co_await gyre::to_thread(join_all);
    co_return 7;
  }(drained));
  EXPECT_EQ(code, 7);
  EXPECT_EQ(drained, threads);
}

TEST(server_stop_threads, the_servers_of_all_threads_drain_although_the_main_task_returns_at_once) {
  constexpr int threads = 3;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> drained{0};
    std::latch serving(threads);
    std::vector<std::thread> workers;
    workers.reserve(threads);
    for (int i = 0; i < threads; ++i) workers.emplace_back([&] { gyre::run(serve_a_client(serving, drained)); });
    auto main_task = [&]() -> gyre::task<> {
      auto started = [&] { serving.wait(); };
      co_await gyre::to_thread(started);
      ::raise(SIGTERM);
      co_await gyre::stop_requested();
    };
    EXPECT_EQ(gyre::run_main(main_task), 0);
    for (auto& each : workers) each.join();
    EXPECT_EQ(drained, threads);
  }
}
