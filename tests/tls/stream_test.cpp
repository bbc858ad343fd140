// tests/tls/stream_test.cpp: reading, writing and ending an encrypted stream.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/seeds.hpp"
#include "tests/tls/conversation.hpp"

#include <array>
#include <vector>

using namespace gyre_test;

namespace {

/// A stream below TLS whose writes wait while its gate is closed, as with a full socket.
struct gated_stream {
  gyre::memory_stream below;
  gyre::event* gate;

  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await below.read_some(buffer); }
  gyre::task<std::size_t> write_all(std::span<const std::byte> bytes) {
    co_await gate->wait();
    co_return co_await below.write_all(bytes);
  }
  void abort() noexcept { below.abort(); }
};

/// The two ends of a connection whose server writes through an open gate.
struct gated_ends {
  gyre::memory_pair ends;
  gyre::event gate;

  gated_ends() { gate.set(); }
  gyre::task<tls::stream> connect() {
    const tls::client_config clients(client_that_trusts());
    co_return co_await tls::connect(std::move(ends.second), "server.test", clients);
  }
  gyre::task<tls::stream> accept() {
    const tls::server_config servers(server_with_certificate());
    gated_stream below{std::move(ends.first), &gate};
    co_return co_await tls::accept(std::move(below), servers);
  }
};

}  // namespace

TEST(tls_stream, every_byte_arrives_in_both_directions_at_once) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands();
    const std::string there = random_text(1'000'000, 1);
    const std::string back = random_text(700'000, 2);
    auto all = gyre::gather(write_and_end(pair.client, there), write_and_end(pair.server, back),
                            read_to_end(pair.client), read_to_end(pair.server));
    const auto read = co_await std::move(all);
    EXPECT_EQ(read.get<2>(), back);
    EXPECT_EQ(read.get<3>(), there);
  });
}

TEST(tls_stream, whole_writes_of_several_tasks_do_not_interleave) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test", 1000);
    constexpr std::size_t size = 100'000;
    auto write = [&](char letter) -> gyre::task<> { co_await pair.client.write_all(std::string(size, letter)); };
    auto writers = gyre::spawn([&]() -> gyre::task<> {
      auto all = gyre::gather(write('a'), write('b'), write('c'));
      co_await std::move(all);
      co_await pair.client.shutdown_write();
    });
    const std::string all = co_await read_to_end(pair.server);
    co_await writers;
    EXPECT_EQ(all, std::string(size, 'a') + std::string(size, 'b') + std::string(size, 'c'));
  });
}

TEST(tls_stream, a_connection_that_ends_without_a_goodbye_is_a_truncation) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands();
    co_await pair.client.write_all("some");
    pair.client = tls::stream();
    std::array<char, 10> buffer{};
    EXPECT_EQ(co_await pair.server.read_some(std::span<char>(buffer)), 4U);
    EXPECT_EQ(co_await error_of(pair.server.read_some(std::span<char>(buffer))),
              "read_some: the connection ended without close_notify, so data may be missing");
  });
}

TEST(tls_stream, reading_goes_on_after_the_own_goodbye) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands();
    co_await pair.client.shutdown_write();
    co_await pair.client.shutdown_write();  // has no effect
    EXPECT_EQ(co_await read_to_end(pair.server), "");
    co_await write_and_end(pair.server, "late");
    EXPECT_EQ(co_await read_to_end(pair.client), "late");
    EXPECT_EQ(co_await error_of(pair.client.write_all("x")), "write_all server.test: Broken pipe");
  });
}

TEST(tls_stream, a_cancelled_read_takes_nothing) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands();
    std::array<char, 10> buffer{};
    for (int i = 0; i < 3; ++i) {
      auto reader =
          gyre::spawn([&]() -> gyre::task<> { (void)co_await pair.server.read_some(std::span<char>(buffer)); });
      co_await gyre::yield();
      reader.cancel();
      co_await reader.wait();
    }
    co_await pair.client.write_all("all of it");
    EXPECT_EQ(co_await pair.server.read_exactly(std::span<char>(buffer).first(9)), 9U);
    EXPECT_EQ(std::string_view(buffer.data(), 9), "all of it");
  });
}

// The tickets of the server leave after its handshake.
TEST(tls_stream, a_read_that_is_cancelled_before_the_tickets_have_left_does_not_end_the_writing_side) {
  run_tls([]() -> gyre::task<> {
    gated_ends between;
    const auto ask = [&]() -> gyre::task<std::string> {
      auto stream = co_await between.connect();
      co_await stream.write_all(std::string_view("x"));
      co_return co_await read_to_end(stream);
    };
    auto client = gyre::spawn(ask);
    auto server = co_await between.accept();
    between.gate.clear();
    std::array<char, 8> buffer{};
    EXPECT_EQ(co_await server.read_some(std::span<char>(buffer)), 1U);
    const auto read = [&]() -> gyre::task<> { (void)co_await server.read_some(std::span<char>(buffer)); };
    auto reader = gyre::spawn(read);
    co_await gyre::sleep(1ms);
    auto writer = gyre::spawn(write_and_end(server, "hello"));
    co_await gyre::sleep(1ms);
    reader.cancel();
    co_await reader.wait();
    between.gate.set();
    co_await writer;
    EXPECT_EQ(co_await client, "hello");
  });
}

TEST(tls_stream, a_write_that_waits_while_another_is_cut_off_reports_that) {
  run_tls([]() -> gyre::task<> {
    gated_ends between;
    const auto ask = [&]() -> gyre::task<> {
      auto stream = co_await between.connect();
      EXPECT_NE(co_await error_of(read_to_end(stream)), "");
    };
    auto client = gyre::spawn(ask);
    auto server = co_await between.accept();
    between.gate.clear();
    const auto write = [&]() -> gyre::task<> { co_await server.write_all(std::string_view("first")); };
    auto first = gyre::spawn(write);
    co_await gyre::sleep(1ms);
    auto second = gyre::spawn(error_of(server.write_all(std::string_view("second"))));
    auto last = gyre::spawn(error_of(server.shutdown_write()));
    co_await gyre::sleep(1ms);
    first.cancel();
    co_await first.wait();
    between.gate.set();
    EXPECT_NE((co_await second).find("write_all"), std::string::npos);
    EXPECT_NE((co_await last).find("shutdown_write"), std::string::npos);
    server.abort();
    co_await client;
  });
}

TEST(tls_stream, a_cancelled_write_cuts_the_stream_off) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test", 1000);
    auto writer = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all(std::string(100'000, 'x')); });
    for (int i = 0; i < 5; ++i) co_await gyre::yield();
    writer.cancel();
    co_await writer.wait();
    EXPECT_EQ(co_await error_of(pair.client.write_all("more")),
              "write_all server.test: an earlier write_all was cancelled half-way; close the stream");
  });
}

TEST(tls_stream, a_changed_byte_is_noticed) {
  run_tls([]() -> gyre::task<> {
    gyre::memory_pair outer;
    gyre::memory_pair inner;
    const tls::server_config servers(server_with_certificate());
    const tls::client_config clients(client_that_trusts());
    bool change = false;
    auto relay = [&change](gyre::memory_stream& from, gyre::memory_stream& to, bool changes) -> gyre::task<> {
      std::array<std::byte, 4096> buffer{};
      while (const std::size_t n = co_await from.read_some(buffer)) {
        if (changes && change) buffer.at(n / 2) ^= std::byte{1};
        co_await to.write_all(std::span(buffer).first(n));
      }
      co_await to.shutdown_write();
    };
    auto there = gyre::spawn(relay(outer.second, inner.second, true));
    auto back = gyre::spawn(relay(inner.second, outer.second, false));
    auto both = gyre::gather(tls::connect(std::move(outer.first), "server.test", clients),
                             tls::accept(std::move(inner.first), servers));
    auto made = co_await std::move(both);
    auto& client = made.get<0>();
    auto& server = made.get<1>();
    change = true;
    co_await client.write_all("hello");
    std::array<char, 10> bytes{};
    const std::string said = co_await error_of(server.read_some(std::span<char>(bytes)));
    EXPECT_EQ(said.substr(0, 51), "read_some: the peer has violated the protocol: decr");
    there.cancel();
    back.cancel();
    co_await there.wait();
    co_await back.wait();
  });
}

TEST(tls_stream, a_cancel_at_any_step_of_a_handshake_leaves_nothing) {
  auto scenario = []() -> gyre::task<> {
    tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test", 3000);
    co_await pair.client.write_all("abc");
    std::array<char, 3> bytes{};
    (void)co_await pair.server.read_exactly(std::span<char>(bytes));
  };
  gyre::testing::cancel_report report;
  EXPECT_NO_THROW(report = gyre::testing::cancel_at_every_await(scenario, [](bool) {}));
  EXPECT_GE(report.cancelled, 5U);
}

// The server's gate closes at random, and tasks of both ends are cancelled at random. What arrives is a beginning of
// what was written, and all of it when a write has reported success.
TEST(tls_stream, conversations_with_gates_and_cancels_at_random_lose_no_byte) {
  for_each_seed(40, [](unsigned seed) {
    gyre::run([seed]() -> gyre::task<> {
      choices choose(seed);
      gated_ends between;
      std::string received;
      const auto listen = [&]() -> gyre::task<> {
        auto stream = co_await between.connect();
        choices pick(seed + 1);
        std::vector<char> buffer(30'000);
        try {
          for (;;) {
            const std::span<char> part = std::span(buffer).first(pick.size_up_to(buffer.size()));
            if (pick.one_in(5)) co_await stream.write_all(std::string(pick.size_up_to(2'000), 'x'));
            auto attempt = gyre::timeout(std::chrono::microseconds(pick.below(100)), stream.read_some(part));
            const auto n = co_await gyre::as_expected(std::move(attempt));
            if (n && *n == 0) co_return;
            if (n) received.append(part.data(), *n);
            if (!n && n.error() != std::errc::timed_out) co_return;
          }
        } catch (const gyre::io_error&) {  // the server has left
        }
      };
      auto client = gyre::spawn(listen);
      auto server = co_await between.accept();
      std::string sent;   // by writes that have reported success
      std::string begun;  // and by the one that was cut off
      const auto write = [&]() -> gyre::task<> {
        choices pick(seed + 2);
        for (int n = 0; n < 20; ++n) {
          const std::string text = random_text(pick.size_up_to(50'000), seed + static_cast<unsigned>(n));
          begun = sent + text;
          co_await server.write_all(std::string_view(text));
          sent += text;
        }
      };
      const auto read = [&]() -> gyre::task<> {
        std::array<char, 500> buffer{};
        while (co_await server.read_some(std::span<char>(buffer)) > 0) {
        }
      };
      auto writer = gyre::spawn(write);
      auto reader = gyre::spawn(read);
      for (int n = 0; n < 40 && !writer.done(); ++n) {
        if (choose.one_in(2))
          between.gate.clear();
        else
          between.gate.set();
        co_await gyre::sleep(std::chrono::microseconds(choose.below(200)));
        if (choose.one_in(4)) {  // a cancelled read does not end the writing
          reader.cancel();
          co_await reader.wait();
          reader = gyre::spawn(read);
        }
        if (choose.one_in(60)) writer.cancel();
      }
      between.gate.set();
      co_await writer.wait();
      const bool whole = !writer.state().failure();
      if (whole) co_await server.shutdown_write();
      reader.cancel();
      co_await reader.wait();
      server = tls::stream();
      co_await client.wait();
      EXPECT_TRUE(begun.starts_with(received));
      EXPECT_TRUE(received.starts_with(sent) || !whole) << received.size() << " of " << sent.size();
      EXPECT_TRUE(whole || writer.state().was_cancelled());
    });
  });
}

// Writers, readers, small and large pieces, both directions, pipes of any size: every byte arrives in order.
TEST(tls_stream, conversations_at_random_lose_no_byte) {
  for_each_seed(40, [](unsigned seed) {
    gyre::run([seed]() -> gyre::task<> {
      choices choose(seed);
      tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test",
                                           choose.between(1, 100'000));
      const std::array<std::string, 2> texts{random_text(choose.size_up_to(300'000), seed),
                                             random_text(choose.size_up_to(300'000), seed + 1)};
      auto write = [&](tls::stream& to, const std::string& text, unsigned own) -> gyre::task<> {
        choices pick(own);
        for (std::string_view rest = text; !rest.empty();) {
          const std::size_t size = std::min(rest.size(), pick.size_up_to(200'000));
          co_await to.write_all(rest.substr(0, size));
          rest.remove_prefix(size);
          if (pick.one_in(3)) co_await gyre::yield();
        }
        co_await to.shutdown_write();
      };
      auto read = [&](tls::stream& from, unsigned own) -> gyre::task<std::string> {
        choices pick(own);
        std::string all;
        std::vector<char> buffer(100'000);
        for (;;) {
          const std::span<char> part = std::span(buffer).first(pick.size_up_to(buffer.size()));
          if (pick.one_in(6)) {  // neither does a wait for the next message
            auto waiting = gyre::timeout(std::chrono::microseconds(pick.below(50)), from.next_or_stop());
            const auto more = co_await gyre::as_expected(std::move(waiting));
            if (more && !*more) break;
          }
          if (pick.one_in(4)) {  // a read that is cancelled loses nothing
            auto attempt = gyre::timeout(std::chrono::microseconds(pick.below(50)), from.read_some(part));
            const auto n = co_await gyre::as_expected(std::move(attempt));
            if (!n) continue;
            if (*n == 0) break;
            all.append(part.data(), *n);
            continue;
          }
          const std::size_t n = co_await from.read_some(part);
          if (n == 0) break;
          all.append(part.data(), n);
        }
        co_return all;
      };
      auto all = gyre::gather(write(pair.client, texts[0], seed + 10), write(pair.server, texts[1], seed + 11),
                              read(pair.client, seed + 12), read(pair.server, seed + 13));
      const auto got = co_await std::move(all);
      EXPECT_TRUE(got.get<2>() == texts[1]);
      EXPECT_TRUE(got.get<3>() == texts[0]);
    });
  });
}

TEST(tls_stream, a_stream_of_any_type_tells_a_stop_from_a_truncation) {
  run_tls([]() -> gyre::task<> {
    for (const bool truncated : {false, true}) {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      const tls::server_config servers(server_with_certificate());
      std::string outcome;
      auto serve = [&](gyre::tcp_stream peer) -> gyre::task<> {
        gyre::any_stream below(std::move(peer));
        auto shaking = tls::accept(std::move(below), servers);
        auto stream = co_await std::move(shaking);
        co_await stream.write_all(std::string_view("hello"));
        try {
          const bool more = co_await stream.next_or_stop();
          outcome = more ? "more" : stream.has_ended() ? "end" : "stop";
        } catch (const tls::tls_error& error) {
          outcome = error.code().message();
        }
      };
      auto serving = gyre::spawn(listener.serve(serve, {.drain = 1h}));
      auto client = co_await tls::connect(listener.local_address().string(), tls::client_config(client_that_trusts()));
      std::array<std::byte, 5> greeting{};
      co_await client.read_exactly(std::span<std::byte>(greeting));
      co_await gyre::sleep(5ms);
      if (truncated) {
        client = tls::stream();
        while (outcome.empty()) co_await gyre::sleep(1ms);
      }
      serving.cancel();  // not the program: only this server stops
      co_await serving.wait();
      EXPECT_EQ(outcome, truncated ? "the connection ended without close_notify, so data may be missing" : "stop");
    }
  });
}
