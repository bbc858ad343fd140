// tests/net/drain_cuts_test.cpp: a stop never looks like the end of a stream, so no part passes for the whole.
#include <gyre/net/start_server.hpp>

#include "tests/net/echo.hpp"
#include "tests/net/stream_outcome.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

using namespace gyre_test;
using gyre::task;

namespace {

/// The beginning of an upload through a server that relays it to a store. Must not move.
struct relayed_upload {
  gyre::tcp_listener store = gyre::tcp_listener::bind("127.0.0.1:0");
  gyre::tcp_listener relay = gyre::tcp_listener::bind("127.0.0.1:0");
  gyre::task_handle<void> serving;
  gyre::tcp_stream client, stored;

  task<> forward(gyre::tcp_stream from) const {
    auto upstream = co_await gyre::tcp_stream::connect(store.local_address());
    co_await gyre::copy_bidirectional(from, upstream);
  }
  task<> begin(std::chrono::seconds drain) {
    auto handler = [this](gyre::tcp_stream from) -> task<> { co_await forward(std::move(from)); };
    serving = gyre::spawn(relay.serve(handler, {.drain = drain}));
    client = co_await gyre::tcp_stream::connect(relay.local_address());
    co_await client.write_all("0123456789");
    stored = co_await store.accept();
    co_await settle();
  }
};

/// A handler that is no coroutine.
struct refusal {
  static task<> nothing() { co_return; }
  GYRE_CORO_WRAPPER task<> operator()(gyre::tcp_stream peer) const {
    {
      const gyre::tcp_stream closed = std::move(peer);
    }
    return nothing();
  }
};

}  // namespace

TEST(drain_cuts, a_line_that_is_under_way_at_the_stop_is_read_to_its_end) {
  run_test([]() -> task<> {
    std::vector<std::string> executed;
    auto lines = [&](gyre::stream_reader& in, gyre::stream_writer& out) -> task<> {
      while (auto line = co_await in.read_line()) {
        executed.push_back(*line);
        out.write("+OK\n");
        co_await out.drain();
      }
    };
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto serving = gyre::spawn(gyre::start_server(lines, listener, {.drain = 30s}));
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await client.write_all("SET balance 10");
    co_await settle();
    gyre::request_stop();
    co_await settle();
    EXPECT_TRUE(executed.empty());
    co_await client.write_all("0000\n");
    co_await client.shutdown_write();
    const outcome answers = co_await read_all_of(client);
    co_await serving;
    EXPECT_EQ(executed, std::vector<std::string>{"SET balance 100000"});
    EXPECT_EQ(answers.bytes, "+OK\n");
    EXPECT_EQ(answers.end, "end");
  });
}

TEST(drain_cuts, an_upload_through_a_relay_goes_on_after_the_stop) {
  run_test([]() -> task<> {
    relayed_upload all;
    co_await all.begin(30s);
    gyre::request_stop();
    co_await settle();
    co_await all.client.write_all("abcdefghij");
    co_await all.client.shutdown_write();
    const outcome upload = co_await read_all_of(all.stored);
    EXPECT_EQ(upload.bytes, "0123456789abcdefghij");
    EXPECT_EQ(upload.end, "end");
    co_await all.stored.close();
    co_await all.serving;
  });
}

TEST(drain_cuts, at_the_deadline_a_relay_resets_both_sides) {
  run_virtual([]() -> task<> {
    relayed_upload all;
    co_await all.begin(3s);
    const auto begin = gyre::now();
    gyre::request_stop();
    const outcome upload = co_await read_all_of(all.stored);
    EXPECT_EQ(upload.end, "Connection reset by peer");
    EXPECT_EQ((co_await read_all_of(all.client)).end, "Connection reset by peer");
    EXPECT_GE(since(begin), 3s);
    co_await all.serving;
  });
}

TEST(drain_cuts, at_the_deadline_a_session_is_cancelled_and_its_client_sees_a_reset) {
  run_virtual([]() -> task<> { EXPECT_EQ((co_await cut_off_in(read_for_ever)).end, "Connection reset by peer"); });
}

TEST(drain_cuts, a_session_that_never_ran_is_reset_at_the_deadline_too) {
  run_virtual([]() -> task<> {
    test_server server(read_for_ever, {.drain = 0s});
    auto client = co_await server.connect();
    gyre::request_stop();
    co_await server.serving;
    const std::string end = (co_await read_all_of(client)).end;
    EXPECT_EQ(end, "Connection reset by peer");
  });
}

TEST(drain_cuts, the_second_signal_resets_the_sessions) {
  gyre::run_options options;
  options.loop.virtual_time = true;
  options.handle_signals = true;
  std::optional<outcome> seen;
  const int code = gyre::run_main(
      [](std::optional<outcome>& result) -> task<int> {
        test_server server(read_for_ever, {.drain = 1h});
        auto client = co_await server.connect();
        co_await client.write_all("part");
        co_await settle();
        ::raise(SIGTERM);
        co_await gyre::stop_requested();
        ::raise(SIGTERM);
        result = co_await gyre::shield(read_all_of(client));
        co_return 0;
      }(seen),
      options);
  EXPECT_EQ(code, 143);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->end, "Connection reset by peer");
}

TEST(drain_cuts, a_stream_that_its_handler_has_passed_on_is_not_reset) {
  run_virtual([]() -> task<> {
    std::optional<gyre::tcp_stream> kept;
    bool first = true;
    auto handler = [&](gyre::tcp_stream peer) -> task<> {
      if (std::exchange(first, false)) {
        kept = std::move(peer);
        co_return;
      }
      auto reading = read_for_ever(std::move(peer));
      co_await std::move(reading);
    };
    test_server server(handler, {.drain = 3s});
    auto passed_on = co_await server.connect();
    co_await settle();
    auto served = co_await server.connect();
    co_await settle();
    gyre::request_stop();
    EXPECT_EQ((co_await read_all_of(served)).end, "Connection reset by peer");
    co_await server.serving;
    co_await kept->write_all("whole");
    kept.reset();
    const outcome rest = co_await read_all_of(passed_on);
    EXPECT_EQ(rest.bytes, "whole");
    EXPECT_EQ(rest.end, "end");
  });
}

TEST(drain_cuts, an_answer_that_a_cancelled_session_had_buffered_does_not_pass_for_the_whole) {
  run_virtual([]() -> task<> {
    auto answer = [](gyre::stream_reader& in, gyre::stream_writer& out) -> task<> {
      (void)co_await in.read_line();
      out.write("a half of the an");
      co_await gyre::sleep(1h);
      out.write("swer\n");
    };
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    auto serving = gyre::spawn(gyre::start_server(answer, listener, {.drain = 3s}));
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await client.write_all("question\n");
    gyre::request_stop();
    EXPECT_EQ((co_await read_all_of(client)).end, "Connection reset by peer");
    co_await serving;
  });
}

TEST(drain_cuts, a_copy_to_the_end_that_fails_or_is_cancelled_resets_its_target) {
  for (const bool fails : {true, false})
    run_with_pair([fails](connected_pair& from) -> task<> {
      connected_pair to = co_await connect_pair();
      auto copying = gyre::spawn(gyre::copy_to_end(from.server, to.client));
      co_await from.client.write_all("part");
      std::array<std::byte, 4> part{};
      co_await to.server.read_exactly(part);
      if (fails)
        from.client.abort();
      else
        copying.cancel();
      co_await copying.wait();
      EXPECT_EQ(copying.state().has_failed(), fails);
      EXPECT_EQ((co_await read_all_of(to.server)).end, "Connection reset by peer");
    });
}

TEST(drain_cuts, a_stream_whose_write_was_cut_off_ends_with_a_reset) {
  run_with_pair([](connected_pair& pair) -> task<> {
    const std::vector<std::byte> much(std::size_t{16} << 20U);
    const auto cut = co_await gyre::as_expected(gyre::timeout(20ms, pair.server.write_all(std::span(much))));
    EXPECT_FALSE(cut.has_value());
    co_await pair.server.close();
    const outcome seen = co_await read_all_of(pair.client);
    EXPECT_LT(seen.bytes.size(), much.size());
    EXPECT_EQ(seen.end, "Connection reset by peer");
  });
}

TEST(drain_cuts, a_session_that_has_returned_is_not_reset_although_the_deadline_comes_first) {
  run_test([]() -> task<> {
    const std::string answer(500'000, 'x');
    auto respond = [&](gyre::tcp_stream peer) -> task<> {
      co_await peer.write_all(answer);
      // The deadline, while the ready queue has more than one turn's worth before the end of this task.
      for (int i = 0; i < 300; ++i) gyre::spawn([]() -> task<> { co_return; }).detach();
      gyre::request_stop();
    };
    test_server server(respond, {.drain = 0s});
    auto client = co_await server.connect();
    const outcome seen = co_await read_all_of(client);
    EXPECT_EQ(seen.bytes.size(), answer.size());
    EXPECT_EQ(seen.end, "end");
    co_await server.serving;
  });
}

TEST(drain_cuts, a_session_that_has_ended_its_writing_is_not_reset_while_it_waits_for_the_client) {
  run_virtual([]() -> task<> {
    const std::string answer(500'000, 'x');
    auto respond = [&](gyre::tcp_stream peer) -> task<> {
      co_await peer.write_all(answer);
      co_await peer.shutdown_write();
      auto waiting = read_for_ever(std::move(peer));
      co_await std::move(waiting);
    };
    test_server server(respond, {.drain = 3s});
    auto client = co_await server.connect();
    co_await settle();
    gyre::request_stop();
    co_await server.serving;
    const outcome seen = co_await read_all_of(client);
    EXPECT_EQ(seen.bytes.size(), answer.size());
    EXPECT_EQ(seen.end, "end");
  });
}

TEST(drain_cuts, a_handler_may_be_a_function_that_closes_the_stream_before_it_returns_its_task) {
  run_test([]() -> task<> {
    test_server server(refusal{});
    auto client = co_await server.connect();
    EXPECT_EQ((co_await read_all_of(client)).end, "end");
    co_await server.stop();
  });
}
