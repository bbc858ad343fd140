// tests/net/server_stop_test.cpp: servers and stop requests.
#include <gyre/net/start_server.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"
#include "tests/support/long_turns.hpp"
#include "tests/support/virtual_run.hpp"

#include <signal.h>

#include <csignal>

using namespace gyre_test;

namespace {

/// Connects, and returns the stream once it is served.
gyre::task<gyre::tcp_stream> served_client(gyre::address where) {
  auto client = co_await gyre::tcp_stream::connect(where);
  std::array<std::byte, 4> reply{};
  co_await client.write_all("ping");
  co_await client.read_exactly(reply);
  co_return client;
}

gyre::run_options virtual_program() {
  gyre::run_options options;
  options.loop.virtual_time = true;
  options.handle_signals = true;
  return options;
}

/// A handler that keeps its connection for a while, whatever the client does.
struct slow_handler {
  std::chrono::seconds time;
  gyre::event began;
  bool was_cancelled = false;

  gyre::task<> serve(gyre::tcp_stream /*peer*/) {
    began.set();
    try {
      co_await gyre::sleep(time);
    } catch (const gyre::cancelled&) {
      was_cancelled = true;
      throw;
    }
  }
};

/// The exit code of a program whose server has one connection, which `slow` keeps, when `rest` has run.
int run_with_slow_connection(slow_handler& slow, std::chrono::seconds drain, body_ref<test_server&> rest) {
  const auto main_task = [&]() -> gyre::task<int> {
    test_server server([&slow](gyre::tcp_stream peer) -> gyre::task<> { co_await slow.serve(std::move(peer)); },
                       {.drain = drain});
    auto client = co_await server.connect();
    co_await slow.began.wait();
    co_await rest(server);
    co_return 7;
  };
  return gyre::run_main(main_task, virtual_program());
}

}  // namespace

TEST(server_stop, a_server_drains_and_returns_and_the_code_after_it_goes_on) {
  static bool flushed;
  flushed = false;
  const int code = gyre::run_main([]() -> gyre::task<int> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto clients = gyre::spawn([](gyre::address where) -> gyre::task<> {
      auto client = co_await served_client(where);
      co_await client.write_all("last");
      ::raise(SIGTERM);
      std::array<std::byte, 4> reply{};
      co_await client.read_exactly(reply);
      EXPECT_EQ(text_of(reply), "last");
      const gyre::buffer_lease end = co_await client.receive();
      EXPECT_FALSE(end);
    }(listener.local_address()));
    co_await listener.serve(echo);
    co_await clients;
    co_await gyre::sleep(1ms);  // awaits work, so nothing has been cancelled
    flushed = true;
    co_return 7;
  }());
  EXPECT_EQ(code, 7);
  EXPECT_TRUE(flushed);
}

TEST(server_stop, start_server_returns) {
  const int code = gyre::run_main([]() -> gyre::task<int> {
    auto upper = [](gyre::stream_reader&, gyre::stream_writer&) -> gyre::task<> { co_return; };
    ::raise(SIGINT);
    co_await gyre::start_server(upper, "127.0.0.1:0");
    co_return 7;
  }());
  EXPECT_EQ(code, 7);
}

TEST(server_stop, a_server_that_starts_after_the_request_drains_at_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::request_stop();
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    co_await listener.serve(echo);
  });
}

TEST(server_stop, a_server_in_a_task_of_its_own_is_an_observer) {
  const int code = gyre::run_main([]() -> gyre::task<int> {
    test_server server(echo);
    ::raise(SIGTERM);  // before the server has begun
    co_await server.serving;
    co_return 7;
  }());
  EXPECT_EQ(code, 7);
}

TEST(server_stop, a_connection_that_takes_longer_than_the_drain_is_cancelled_and_the_server_returns) {
  slow_handler slow{.time = 1h, .began = {}};
  const int code = run_with_slow_connection(slow, 3s, [](test_server& server) -> gyre::task<> {
    gyre::request_stop();
    co_await server.serving;
  });
  EXPECT_EQ(code, 7);
  EXPECT_TRUE(slow.was_cancelled);
}

TEST(server_stop, the_time_that_is_left_to_the_program_begins_after_the_last_drain) {
  slow_handler slow{.time = 40s, .began = {}};
  const int code = run_with_slow_connection(slow, 60s, [](test_server& server) -> gyre::task<> {
    gyre::request_stop();
    co_await server.serving;
    const auto begin = gyre::now();
    try {
      co_await gyre::sleep(1h);  // much longer than after_drain
    } catch (const gyre::cancelled&) {
      EXPECT_EQ(since(begin), 15s);
      throw;
    }
  });
  EXPECT_EQ(code, 143);
  EXPECT_FALSE(slow.was_cancelled);
}

TEST(server_stop, the_second_signal_ends_the_drain) {
  slow_handler slow{.time = 1h, .began = {}};
  const int code = gyre::run_main(
      [](slow_handler& handler) -> gyre::task<int> {
        auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
        auto serve = [&handler](gyre::tcp_stream peer) -> gyre::task<> { co_await handler.serve(std::move(peer)); };
        auto signals = gyre::spawn([](slow_handler& h, gyre::address where) -> gyre::task<> {
          auto client = co_await gyre::tcp_stream::connect(where);
          co_await h.began.wait();
          ::raise(SIGTERM);
          co_await gyre::stop_requested();
          const auto begin = gyre::now();
          ::raise(SIGTERM);
          try {
            co_await gyre::sleep(1h);
          } catch (const gyre::cancelled&) {
            EXPECT_LT(since(begin), 1s);
            throw;
          }
        }(handler, listener.local_address()));
        co_await listener.serve(serve, {.drain = 60s});
        ADD_FAILURE() << "it returned into a scope that is cancelled";
        co_return 7;
      }(slow),
      virtual_program());
  EXPECT_EQ(code, 143);
  EXPECT_TRUE(slow.was_cancelled);
}

TEST(server_stop, force_ends_the_drain_of_a_server_that_was_cancelled_before) {
  slow_handler slow{.time = 1h, .began = {}};
  const int code = run_with_slow_connection(slow, 1h, [](test_server& server) -> gyre::task<> {
    const auto begin = gyre::now();
    server.serving.cancel();
    ::raise(SIGTERM);
    co_await gyre::stop_requested();
    ::raise(SIGTERM);
    co_await gyre::shield(server.serving.wait());
    EXPECT_LT(since(begin), 1s);
  });
  EXPECT_EQ(code, 143);
  EXPECT_TRUE(slow.was_cancelled);
}

TEST(server_stop, a_server_that_is_cancelled_while_it_drains_finishes_the_drain_and_throws) {
  slow_handler slow{.time = 3s, .began = {}};
  run_virtual([&]() -> gyre::task<> {
    auto serve = [&slow](gyre::tcp_stream peer) -> gyre::task<> { co_await slow.serve(std::move(peer)); };
    test_server server(serve);
    auto client = co_await server.connect();
    co_await slow.began.wait();
    gyre::request_stop();
    co_await gyre::sleep(1s);
    co_await server.stop();
    EXPECT_FALSE(slow.was_cancelled);
    EXPECT_TRUE(server.serving.state().was_cancelled());
  });
}

TEST(server_stop, a_server_that_does_not_observe_runs_until_it_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    test_server server(echo, {.observe_stop = false});
    gyre::request_stop();
    co_await gyre::stop_requested();
    auto client = co_await served_client(server.where());
    co_await client.close();
    EXPECT_FALSE(server.serving.done());
    co_await server.stop();
    EXPECT_TRUE(server.serving.state().was_cancelled());
  });
}

TEST(server_stop, clients_that_connect_before_the_port_closes_are_served) {
  run_test([]() -> gyre::task<> {
    test_server server(echo);
    co_await settle();
    server.serving.cancel();
    auto clients = co_await connect_in_long_turns(server.where(), "ping");
    EXPECT_FALSE(clients.empty());
    for (gyre::tcp_stream& each : clients) EXPECT_EQ(co_await read_text_to_end(each), "ping");
    co_await server.serving.wait();
  });
}

TEST(server_stop, clients_in_the_backlog_are_served_by_a_server_that_starts_after_the_request) {
  run_test([]() -> gyre::task<> {
    gyre::request_stop();
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto client = connect_at_once(listener.local_address(), "ping");
    co_await listener.serve(echo);
    EXPECT_EQ(co_await read_text_to_end(client), "ping");
  });
}

TEST(server_stop, a_server_with_as_many_connections_as_it_may_have_takes_no_more) {
  run_test([]() -> gyre::task<> {
    test_server server(echo, {.max_connections = 1});
    auto first = co_await served_client(server.where());
    auto second = connect_at_once(server.where(), "ping");
    co_await server.stop();
    const std::string refused = co_await error_of(read_text_to_end(second));
    EXPECT_NE(refused.find("Connection reset"), std::string::npos) << refused;
  });
}

TEST(server_stop_death, a_handler_that_never_ends_cannot_keep_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto serve_one_that_hangs = [] {
    gyre::run_options options;
    options.after_drain = options.after_cancel = 20ms;
    gyre::run_main(
        []() -> gyre::task<> {
          auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
          auto client = co_await gyre::tcp_stream::connect(listener.local_address());
          co_await listener.serve(
              [](gyre::tcp_stream /*peer*/) -> gyre::task<> {
                ::raise(SIGTERM);
                auto wait_for_ever = [] { ::pause(); };
                co_await gyre::to_thread(wait_for_ever);
              },
              {.drain = 20ms});
        },
        options);
  };
  EXPECT_EXIT(serve_one_that_hangs(), testing::ExitedWithCode(143), "the process ends");
}
