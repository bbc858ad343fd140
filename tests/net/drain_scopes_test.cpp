// tests/net/drain_scopes_test.cpp: which streams are reset when sessions are cut off: those of the sessions, no others.
#include <gyre/net/start_server.hpp>

#include "tests/net/echo.hpp"
#include "tests/net/stream_outcome.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace gyre_test;
using gyre::task;

namespace {

task<outcome> outcome_of_next(gyre::tcp_listener& listener) {
  auto from = co_await listener.accept();
  co_return co_await read_all_of(from);
}

}  // namespace

TEST(drain_scopes, a_session_that_swallows_the_cancel_is_reset) {
  run_virtual([]() -> task<> {
    auto handler = [](gyre::tcp_stream peer) -> task<> {
      std::array<char, 16> buffer;
      try {
        while (co_await peer.read_some(std::span(buffer)) > 0) {
        }
      } catch (const gyre::cancelled&) {
      }
    };
    EXPECT_EQ((co_await cut_off_in(handler)).end, "Connection reset by peer");
  });
}

TEST(drain_scopes, a_session_that_shields_its_work_beyond_the_deadline_is_reset) {
  run_virtual([]() -> task<> {
    auto handler = [](gyre::tcp_stream peer) -> task<> {
      co_await gyre::shield(gyre::sleep(10s));
      (void)peer;
    };
    EXPECT_EQ((co_await cut_off_in(handler)).end, "Connection reset by peer");
  });
}

TEST(drain_scopes, the_work_of_a_session_in_a_shield_ends_in_good_order) {
  run_virtual([]() -> task<> {
    auto audit = gyre::tcp_listener::bind("127.0.0.1:0");
    const auto report = [&]() -> task<> {
      auto to = co_await gyre::tcp_stream::connect(audit.local_address());
      co_await to.write_all("session ended");
      co_await gyre::sleep(1h);  // its own time-out ends it
    };
    auto handler = [&](gyre::tcp_stream peer) -> task<> {
      bool cut = false;
      std::array<char, 16> buffer;
      try {
        while (co_await peer.read_some(std::span(buffer)) > 0) {
        }
      } catch (const gyre::cancelled&) {
        cut = true;
      }
      if (cut) (void)co_await gyre::shield(gyre::as_result(gyre::timeout(100ms, report())));
      (co_await gyre::current_task()).uncancel();
    };
    auto accepting = gyre::spawn(outcome_of_next(audit));
    EXPECT_NE((co_await cut_off_in(handler)).end, "");
    const outcome noted = co_await accepting;
    EXPECT_EQ(noted.bytes, "session ended");
    EXPECT_EQ(noted.end, "end");
  });
}

TEST(drain_scopes, sessions_of_a_server_inside_a_session_that_is_cut_off_end_as_its_own_drain_says) {
  run_virtual([]() -> task<> {
    auto inner = gyre::tcp_listener::bind("127.0.0.1:0");
    auto brief = [](gyre::tcp_stream peer) -> task<> {
      co_await peer.write_all("hello");
      auto waiting = gyre::as_result(gyre::timeout(1s, gyre::sleep(1h)));
      (void)co_await std::move(waiting);
    };
    auto outer = [&](gyre::tcp_stream peer) -> task<> {
      (void)peer;
      auto serving = inner.serve(brief, {.drain = 10s, .observe_stop = false});
      co_await std::move(serving);
    };
    auto visitor = gyre::spawn([&]() -> task<outcome> {
      co_await gyre::sleep(2900ms);  // just before the outer server is cut off
      auto stream = co_await gyre::tcp_stream::connect(inner.local_address());
      co_return co_await read_all_of(stream);
    });
    (void)co_await cut_off_in(outer);
    const outcome seen = co_await visitor;
    EXPECT_EQ(seen.bytes, "hello");
    EXPECT_EQ(seen.end, "end");
  });
}

TEST(drain_scopes, an_argument_of_a_cancelled_task_may_own_the_scope_of_the_task) {
  struct hub {
    gyre::async_scope sessions;
  };
  run_with_listener([](gyre::tcp_listener& listener) -> task<> {
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto peer = co_await listener.accept();
    auto owner = std::make_shared<hub>();
    // Arguments end in the reverse order: the scope ends before the stream.
    const auto session = [](gyre::tcp_stream stream, std::shared_ptr<hub> /*last*/) -> task<> {
      std::array<char, 16> buffer;
      (void)co_await stream.read_some(std::span(buffer));
    };
    owner->sessions.spawn(session(std::move(peer), owner));
    co_await settle();
    hub& of_session = *owner;
    owner.reset();
    of_session.sessions.cancel();
    EXPECT_EQ((co_await read_all_of(client)).end, "end");
  });
}

TEST(drain_scopes, connections_that_an_acceptor_has_given_to_a_loop_that_stops_are_reset_at_once) {
  gyre::run(
      []() -> task<> {
        const gyre::serve_options options{
            .threads = 2, .accept = gyre::accept_mode::one_acceptor, .max_connections = 4, .drain = 1s};
        test_server server(read_for_ever, options);
        std::vector<gyre::tcp_stream> clients;
        for (int i = 0; i < 9; ++i) clients.push_back(co_await server.connect());
        co_await settle();
        const auto begin = gyre::now();
        gyre::request_stop();
        int early = 0;
        for (gyre::tcp_stream& each : clients) {
          auto reading = gyre::as_result(gyre::timeout(100ms, read_all_of(each)));
          const auto seen = co_await std::move(reading);
          if (!seen) continue;
          EXPECT_EQ(seen->end, "Connection reset by peer");
          ++early;
        }
        EXPECT_EQ(early, 5) << "those that no session serves";
        co_await server.serving;
        EXPECT_GE(gyre::now() - begin, 1s);
      },
      {.threads = 2});
}

TEST(drain_scopes, the_writer_of_a_session_that_is_cut_off_drops_its_buffer) {
  run_virtual([]() -> task<> {
    auto handler = [](gyre::tcp_stream peer) -> task<> {
      auto both = gyre::make_connection(std::move(peer));
      both.writer.write("balance: 1");
      co_await both.writer.flush();
      (void)co_await both.reader.read_exactly(100);
    };
    const outcome seen = co_await cut_off_in(handler);
    EXPECT_EQ(seen.bytes, "balance: 1");
    EXPECT_EQ(seen.end, "Connection reset by peer");
  });
}

TEST(drain_scopes, a_relay_by_readers_and_writers_resets_both_sides) {
  run_virtual([]() -> task<> {
    auto store = gyre::tcp_listener::bind("127.0.0.1:0");
    auto handler = [&](gyre::tcp_stream peer) -> task<> {
      auto client = gyre::make_connection(std::move(peer));
      auto upstream = co_await gyre::open_connection(store.local_address().string());
      for (;;) {
        const std::string piece = co_await client.reader.read();
        if (piece.empty()) break;
        upstream.writer.write(piece);
        co_await upstream.writer.drain();
      }
      co_await upstream.writer.write_eof();
    };
    auto accepting = gyre::spawn(outcome_of_next(store));
    EXPECT_EQ((co_await cut_off_in(handler)).end, "Connection reset by peer");
    const outcome stored = co_await accepting;
    EXPECT_EQ(stored.bytes, "part");
    EXPECT_EQ(stored.end, "Connection reset by peer");
  });
}

TEST(drain_scopes, a_writer_that_was_closed_still_sends_what_it_has) {
  run_virtual([]() -> task<> {
    auto handler = [](gyre::tcp_stream peer) -> task<> {
      auto both = gyre::make_connection(std::move(peer));
      both.writer.write(std::string(500'000, 'x'));
      both.writer.close();
      co_await both.writer.wait_closed();
      (void)co_await both.reader.read_exactly(100);
    };
    const outcome seen = co_await cut_off_in(handler);
    EXPECT_EQ(seen.bytes.size(), 500'000U);
    EXPECT_EQ(seen.end, "end");
  });
}

TEST(drain_scopes, a_session_that_took_over_the_stream_of_another_one_resets_it) {
  run_virtual([]() -> task<> {
    std::optional<gyre::tcp_stream> lobby;
    auto handler = [&](gyre::tcp_stream peer) -> task<> {
      if (!lobby) {
        lobby = std::move(peer);
        co_return;
      }
      gyre::tcp_stream other = std::move(*lobby);
      co_await other.write_all("half of a mess");
      auto waiting = read_for_ever(std::move(peer));
      co_await std::move(waiting);
    };
    test_server server(handler, {.drain = 3s});
    auto first = co_await server.connect();
    co_await settle();
    auto second = co_await server.connect();
    co_await settle();
    gyre::request_stop();
    const outcome seen = co_await read_all_of(first);
    EXPECT_EQ(seen.bytes, "half of a mess");
    EXPECT_EQ(seen.end, "Connection reset by peer");
    EXPECT_EQ((co_await read_all_of(second)).end, "Connection reset by peer");
    co_await server.serving;
  });
}

TEST(drain_scopes, the_stream_of_a_task_that_the_handler_has_spawned_is_reset_too) {
  run_virtual([]() -> task<> {
    auto handler = [](gyre::tcp_stream peer) -> task<> {
      auto body = [&](gyre::task_group& group) -> task<> {
        group.spawn(read_for_ever(std::move(peer)));
        co_return;
      };
      co_await gyre::task_group::scope(body);
    };
    EXPECT_EQ((co_await cut_off_in(handler)).end, "Connection reset by peer");
  });
}

TEST(drain_scopes, a_connection_of_its_own_that_a_session_has_opened_is_reset_too) {
  run_virtual([]() -> task<> {
    auto store = gyre::tcp_listener::bind("127.0.0.1:0");
    auto forward = [&](gyre::tcp_stream client) -> task<> {
      auto upstream = co_await gyre::tcp_stream::connect(store.local_address());
      while (const gyre::buffer_lease piece = co_await client.receive()) co_await upstream.write_all(piece.bytes());
      co_await upstream.shutdown_write();
    };
    test_server server(forward, {.drain = 3s});
    auto client = co_await server.connect();
    co_await client.write_all("half of an uplo");
    auto stored = co_await store.accept();
    gyre::request_stop();
    const outcome seen = co_await read_all_of(stored);
    EXPECT_EQ(seen.bytes, "half of an uplo");
    EXPECT_EQ(seen.end, "Connection reset by peer");
    co_await server.serving;
  });
}

TEST(drain_scopes, connections_that_are_not_served_any_more_are_reset) {
  run_test([]() -> task<> {
    test_server server(read_for_ever, {.max_connections = 1, .drain = 50ms});
    std::vector<gyre::tcp_stream> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(co_await server.connect());
    co_await settle();
    gyre::request_stop();
    co_await server.serving;
    for (gyre::tcp_stream& each : clients) EXPECT_EQ((co_await read_all_of(each)).end, "Connection reset by peer");
  });
}
