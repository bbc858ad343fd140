// tests/net/serve_on_loops_threads_test.cpp: one listener whose connections are served on several loops.
#include <gyre/net/tcp_listener.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <semaphore>
#include <string>
#include <vector>

#include "tests/net/echo.hpp"
#include "tests/net/served_on_loops.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

/// Runs `body(address)` on the first of some loops, beside a server that is cancelled at the end.
void run_beside_server(std::size_t loops, gyre::serve_options options, body_ref<const gyre::address&> body) {
  gyre::run(
      [&]() -> gyre::task<> {
        test_server server(tell_loop_and_echo, options);
        co_await body(server.where());
        co_await server.stop();
      },
      {.threads = loops});
}

}  // namespace

TEST(serve_on_loops_threads, one_acceptor_gives_every_loop_the_same_number_of_connections) {
  run_beside_server(4, {.threads = 4, .accept = gyre::accept_mode::one_acceptor},
                    [](const gyre::address& where) -> gyre::task<> {
                      clients all;
                      co_await all.connect(where, 64);
                      EXPECT_EQ(all.per_loop(), (std::map<char, int>{{'0', 16}, {'1', 16}, {'2', 16}, {'3', 16}}));
                    });
}

TEST(serve_on_loops_threads, a_shared_port_spreads_connections_over_the_loops) {
  run_beside_server(2, {.threads = 2}, [](const gyre::address& where) -> gyre::task<> {
    clients all;
    co_await all.connect(where, 200);
    // On a busy machine, the other loop may begin to listen only now.
    for (int n = 0; n < 500 && all.per_loop().size() < 2; ++n) {
      co_await gyre::sleep(1ms);
      co_await all.connect(where, 1);
    }
    EXPECT_EQ(all.per_loop().size(), 2U);
  });
}

TEST(serve_on_loops_threads, a_loop_whose_connections_have_ended_gets_the_next_ones) {
  run_beside_server(2, {.threads = 2, .accept = gyre::accept_mode::one_acceptor},
                    [](const gyre::address& where) -> gyre::task<> {
                      clients all;
                      co_await all.connect(where, 20);
                      for (std::size_t i = 0; i < 20; ++i) {
                        if (all.loops[i] != '1') continue;
                        co_await all.streams[i].shutdown_write();
                        EXPECT_EQ((co_await all.streams[i].receive()).bytes().size(), 0U);
                      }
                      // The server's task ends a moment after its client has seen the end.
                      clients later;
                      while (later.per_loop()['1'] < 9 && later.streams.size() < 20) co_await later.connect(where, 1);
                      EXPECT_GE(later.per_loop()['1'], 9);
                    });
}

TEST(serve_on_loops_threads, zero_threads_are_all_loops_of_the_runtime) {
  run_beside_server(3, {.threads = 0, .accept = gyre::accept_mode::one_acceptor},
                    [](const gyre::address& where) -> gyre::task<> {
                      clients all;
                      co_await all.connect(where, 3);
                      EXPECT_EQ(all.per_loop().size(), 3U);
                    });
}

TEST(serve_on_loops_threads, the_runtime_starts_loops_that_are_missing) {
  run_beside_server(1, {.threads = 2, .accept = gyre::accept_mode::one_acceptor},
                    [](const gyre::address& where) -> gyre::task<> {
                      clients all;
                      co_await all.connect(where, 2);
                      EXPECT_EQ(all.per_loop().size(), 2U);
                      EXPECT_EQ(gyre::event_loop::current().group()->size(), 2U);
                    });
}

TEST(serve_on_loops_threads, several_threads_need_a_runtime) {
  gyre::event_loop alone;
  bool done = false;
  auto body = gyre::spawn([&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    EXPECT_THROW(co_await listener.serve(tell_loop_and_echo, {.threads = 2}), std::invalid_argument);
    done = true;
  });
  alone.run_until(done);
}

TEST(serve_on_loops_threads, another_server_cannot_take_the_same_port_by_mistake) {
  run_beside_server(2, {.threads = 2}, [](const gyre::address& where) -> gyre::task<> {
    clients all;
    co_await all.connect(where, 1);
    EXPECT_THROW((void)gyre::tcp_listener::bind(where), gyre::io_error);
  });
}

TEST(serve_on_loops_threads, a_blocked_loop_does_not_keep_the_others_from_accepting) {
  std::binary_semaphore blocked{0};  // outlives the loop that waits for it
  run_beside_server(
      2, {.threads = 2, .accept = gyre::accept_mode::one_acceptor}, [&](const gyre::address& where) -> gyre::task<> {
        (*gyre::event_loop::current().group())[1].post([&] { blocked.acquire(); });
        int answered = 0;
        std::vector<gyre::tcp_stream> waiting;
        while (answered < 50) {
          auto stream = co_await gyre::tcp_stream::connect(where);
          auto answer = co_await gyre::as_expected(gyre::timeout(20ms, first_byte(stream)));
          if (answer)
            ++answered;
          else
            waiting.push_back(std::move(stream));  // given to the loop that is blocked, or the machine is busy
          CO_ASSERT_TRUE(waiting.size() < 50);
        }
        blocked.release();
        int given_to_blocked_loop = 0;
        for (auto& each : waiting) {
          const char loop = co_await first_byte(each);
          given_to_blocked_loop += loop == '1' ? 1 : 0;
        }
        EXPECT_LT(given_to_blocked_loop, 4);
      });
}

TEST(serve_on_loops_threads, the_limit_of_connections_holds_for_all_loops_together) {
  static std::atomic<int> now;
  static std::atomic<int> most;
  for (const auto mode : both_modes)
    for (const std::size_t limit : {6U, 3U, 1U}) {
      now = most = 0;
      gyre::run(
          [mode, limit]() -> gyre::task<> {
            auto handler = [](gyre::tcp_stream peer) -> gyre::task<> {
              (void)co_await peer.receive();
              const int count = ++now;
              for (int seen = most; seen < count && !most.compare_exchange_weak(seen, count);) {
              }
              co_await gyre::sleep(100us);
              --now;
              co_await peer.write_all("x");
            };
            test_server server(handler, {.threads = 4, .accept = mode, .max_connections = limit});
            auto ask = [&]() -> gyre::task<> {
              auto stream = co_await server.connect();
              co_await stream.write_all("?");
              EXPECT_EQ(co_await first_byte(stream), 'x');
            };
            auto all = [&](gyre::task_group& group) -> gyre::task<> {
              for (int i = 0; i < 100; ++i) group.spawn(ask);
              co_return;
            };
            co_await gyre::task_group::scope(all);
            co_await server.stop();
          },
          {.threads = 4});
      EXPECT_LE(most, static_cast<int>(limit));
      EXPECT_GE(most, 1);
    }
}

TEST(serve_on_loops_threads, a_unix_socket_is_served_on_several_loops) {
  gyre::run(
      []() -> gyre::task<> {
        const std::string name = "@gyre-serve-on-loops-" + std::to_string(::getpid());
        auto listener = gyre::unix_listener::bind(gyre::unix_address(name));
        auto handler = [](gyre::unix_stream peer) -> gyre::task<> {
          co_await peer.write_all(index_here());
          (void)co_await peer.next_or_stop();
        };
        auto server = gyre::spawn(listener.serve(handler, {.threads = 2}));
        std::map<char, int> counted;
        std::vector<gyre::unix_stream> streams;
        for (int i = 0; i < 10; ++i) {
          streams.push_back(co_await gyre::unix_stream::connect(listener.local_address()));
          ++counted[static_cast<char>((co_await streams.back().receive()).bytes()[0])];
        }
        EXPECT_EQ(counted, (std::map<char, int>{{'0', 5}, {'1', 5}}));
        server.cancel();
        co_await server.wait();
      },
      {.threads = 2});
}

TEST(serve_on_loops_threads, a_handler_that_fails_leaves_the_other_connections_alone) {
  gyre::run(
      []() -> gyre::task<> {
        co_await gyre::for_each_loop([] {
          gyre::event_loop::current().set_exception_handler([](const gyre::background_failure&, void*) noexcept {}, {});
        });
        auto handler = [](gyre::tcp_stream peer) -> gyre::task<> {
          const auto received = co_await peer.receive();
          if (received.bytes()[0] == std::byte{'!'}) throw std::runtime_error("asked to fail");
          co_await peer.write_all("x");
        };
        test_server server(handler, {.threads = 2});
        for (int i = 0; i < 40; ++i) {
          auto stream = co_await server.connect();
          co_await stream.write_all(i % 2 == 0 ? "!" : "?");
          EXPECT_EQ((co_await stream.receive()).bytes().size(), i % 2 == 0 ? 0U : 1U);
        }
        co_await server.stop();
      },
      {.threads = 2});
}
