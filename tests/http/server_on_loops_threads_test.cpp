// tests/http/server_on_loops_threads_test.cpp: one HTTP server on several loops.
#include <gyre/http/server.hpp>

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/co_assert.hpp"

using namespace std::chrono_literals;
namespace http = gyre::http;

namespace {

constexpr std::array both_modes{gyre::accept_mode::reuse_port, gyre::accept_mode::one_acceptor};

http::response tell_loop(http::request& /*request*/) {
  return http::response::text(std::to_string(gyre::event_loop::current().index()));
}

http::server_options options_with_threads(std::size_t threads,
                                          gyre::accept_mode mode = gyre::accept_mode::one_acceptor) {
  http::server_options options;
  options.listen = "127.0.0.1:0";
  options.threads = threads;
  options.accept = mode;
  return options;
}

/// A request on a connection that stays open. Returns the response's status line, or its body if the status is 200.
gyre::task<std::string> ask_over(gyre::tcp_stream& stream, std::string path = "/") {
  co_await stream.write_all("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string text;
  while (text.find("\r\n\r\n") == std::string::npos) {
    const auto received = co_await stream.receive();
    if (!received) co_return "closed";
    text.append(reinterpret_cast<const char*>(received.bytes().data()), received.bytes().size());
  }
  if (!text.starts_with("HTTP/1.1 200")) co_return text.substr(0, text.find("\r\n"));
  co_return text.substr(text.find("\r\n\r\n") + 4);
}

gyre::task<gyre::tcp_stream> connect_to_server(const http::server& server) {
  co_return co_await gyre::tcp_stream::connect(gyre::address(server.where()));
}

/// Runs `body(server)` beside a server, which is cancelled at the end.
template <class Body>
gyre::task<> beside(http::server_options options, Body body) {
  http::server server(std::move(options));
  auto running = gyre::spawn(server.run());
  co_await gyre::yield();
  co_await body(server);
  running.cancel();
  co_await running.wait();
}

}  // namespace

TEST(server_on_loops_threads, all_loops_answer_with_one_shared_router) {
  for (const auto mode : both_modes)
    gyre::run(
        [mode]() -> gyre::task<> {
          http::router routes;
          routes.get("/", tell_loop);
          auto options = options_with_threads(2, mode);
          options.routes = std::move(routes);
          auto body = [](http::server& server) -> gyre::task<> {
            std::set<std::string> seen;
            std::vector<gyre::tcp_stream> streams;
            for (int i = 0; i < 100; ++i) {
              streams.push_back(co_await connect_to_server(server));
              seen.insert(co_await ask_over(streams.back()));
            }
            EXPECT_EQ(server.connections(), 100U);
            // With reuse_port, a loop listens only once it runs, and a busy machine may run its thread late.
            while (seen.size() < 2) {
              auto later = co_await connect_to_server(server);
              seen.insert(co_await ask_over(later));
            }
            EXPECT_EQ(seen, (std::set<std::string>{"0", "1"}));
          };
          auto served = beside(std::move(options), body);
          co_await gyre::timeout(20s, std::move(served));
        },
        {.threads = 2});
}

TEST(server_on_loops_threads, a_factory_makes_routes_on_each_loop) {
  static std::atomic<int> made;
  made = 0;
  gyre::run(
      []() -> gyre::task<> {
        auto options = options_with_threads(3);
        options.make_routes = [] {
          ++made;
          http::router routes;
          // The count belongs to this loop and needs no lock.
          routes.get("/",
                     [count = 0](http::request&) mutable { return http::response::text(std::to_string(++count)); });
          return routes;
        };
        auto body = [](http::server& server) -> gyre::task<> {
          std::vector<gyre::tcp_stream> streams;
          for (int i = 0; i < 9; ++i) {
            streams.push_back(co_await connect_to_server(server));
            EXPECT_EQ(co_await ask_over(streams.back()), std::to_string(i / 3 + 1));
          }
        };
        co_await beside(std::move(options), body);
      },
      {.threads = 3});
  EXPECT_EQ(made, 3);
}

TEST(server_on_loops_threads, routes_and_a_factory_exclude_each_other) {
  gyre::run([]() -> gyre::task<> {
    auto options = options_with_threads(2);
    options.routes = tell_loop;
    options.make_routes = [] { return http::router(); };
    EXPECT_THROW(http::server{std::move(options)}, std::invalid_argument);
    co_return;
  });
}

TEST(server_on_loops_threads, a_factory_that_fails_on_another_loop_ends_the_server) {
  gyre::run(
      []() -> gyre::task<> {
        auto options = options_with_threads(2);
        options.make_routes = []() -> http::handler {
          if (gyre::event_loop::current().index() == 1) throw std::runtime_error("no routes here");
          return tell_loop;
        };
        http::server server(std::move(options));
        EXPECT_THROW(co_await server.run(), std::runtime_error);
      },
      {.threads = 2});
}

TEST(server_on_loops_threads, the_limit_of_connections_holds_for_all_loops_together) {
  for (const auto mode : both_modes)
    gyre::run(
        [mode]() -> gyre::task<> {
          auto options = options_with_threads(2, mode);
          options.routes = tell_loop;
          options.limits.connections = 10;
          auto body = [](http::server& server) -> gyre::task<> {
            std::vector<gyre::tcp_stream> streams;
            int answered = 0;
            for (int i = 0; i < 20; ++i) {
              streams.push_back(co_await connect_to_server(server));
              const std::string answer = co_await ask_over(streams.back());
              answered += answer == "0" || answer == "1" ? 1 : 0;
            }
            EXPECT_EQ(answered, 10);
          };
          co_await beside(std::move(options), body);
        },
        {.threads = 2});
}

TEST(server_on_loops_threads, the_limit_per_address_holds_for_all_loops_together) {
  gyre::run(
      []() -> gyre::task<> {
        auto options = options_with_threads(2);
        options.routes = tell_loop;
        options.limits.connections_per_address = 4;
        auto body = [](http::server& server) -> gyre::task<> {
          std::vector<gyre::tcp_stream> streams;
          int answered = 0;
          for (int i = 0; i < 8; ++i) {
            streams.push_back(co_await connect_to_server(server));
            answered += (co_await ask_over(streams.back())).size() == 1 ? 1 : 0;
          }
          EXPECT_EQ(answered, 4);
        };
        co_await beside(std::move(options), body);
      },
      {.threads = 2});
}

TEST(server_on_loops_threads, a_rate_limit_holds_for_all_loops_together) {
  gyre::run(
      []() -> gyre::task<> {
        auto options = options_with_threads(2);
        options.make_routes = [limit = http::rate_limit({.rate = 0.001, .burst = 5})] {
          http::router routes;
          routes.use(limit);
          routes.get("/", tell_loop);
          return routes;
        };
        auto body = [](http::server& server) -> gyre::task<> {
          int let_in = 0;
          for (int i = 0; i < 10; ++i) {
            auto stream = co_await connect_to_server(server);
            let_in += (co_await ask_over(stream)).size() == 1 ? 1 : 0;
          }
          EXPECT_EQ(let_in, 5);
        };
        co_await beside(std::move(options), body);
      },
      {.threads = 2});
}

TEST(server_on_loops_threads, a_stop_request_loses_no_request_that_was_sent) {
  for (const auto mode : both_modes) {
    int answered = 0;
    gyre::run_main(
        [&, mode]() -> gyre::task<> {
          auto options = options_with_threads(2, mode);
          options.routes = [](http::request& request) -> gyre::task<http::response> {
            co_await gyre::sleep(1ms);
            co_return tell_loop(request);
          };
          http::server server(std::move(options));
          auto running = gyre::spawn(server.run());
          co_await gyre::yield();
          std::vector<gyre::tcp_stream> streams;
          for (int i = 0; i < 300; ++i) {
            streams.push_back(co_await connect_to_server(server));
            co_await streams.back().write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
          }
          gyre::request_stop();
          for (auto& each : streams) answered += (co_await each.receive()).bytes().size() > 100 ? 1 : 0;
          streams.clear();
          co_await running;
        },
        {.threads = 2});
    EXPECT_EQ(answered, 300);
  }
}

TEST(server_on_loops_threads, a_server_on_a_unix_socket_uses_several_loops) {
  gyre::run(
      []() -> gyre::task<> {
        auto options = options_with_threads(2, gyre::accept_mode::reuse_port);
        options.listen = "unix:@gyre-server-on-loops-" + std::to_string(::getpid());
        options.routes = tell_loop;
        auto body = [](http::server& server) -> gyre::task<> {
          std::set<std::string> seen;
          for (int i = 0; i < 4; ++i) {
            auto stream = co_await gyre::unix_stream::connect(gyre::unix_address(server.where().substr(5)));
            co_await stream.write_all("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            std::string text;
            while (auto received = co_await stream.receive())
              text.append(reinterpret_cast<const char*>(received.bytes().data()), received.bytes().size());
            seen.insert(text.substr(text.find("\r\n\r\n") + 4));
          }
          EXPECT_EQ(seen, (std::set<std::string>{"0", "1"}));
        };
        co_await beside(std::move(options), body);
      },
      {.threads = 2});
}

TEST(server_on_loops_threads, one_call_serves_on_all_cores) {
  EXPECT_EQ(gyre::run_main([]() -> gyre::task<> {
              http::router routes;
              routes.get("/", tell_loop);
              auto stopping = gyre::spawn([]() -> gyre::task<> {
                gyre::request_stop();
                co_return;
              });
              auto serving = http::serve({.listen = "127.0.0.1:0", .routes = std::move(routes), .threads = 3});
              co_await std::move(serving);
              EXPECT_EQ(gyre::event_loop::current().group()->size(), 3U);
              co_await stopping;
            }),
            0);
}
