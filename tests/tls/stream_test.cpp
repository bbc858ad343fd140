// tests/tls/stream_test.cpp: reading, writing and ending an encrypted stream.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/seeds.hpp"
#include "tests/tls/conversation.hpp"

#include <array>

using namespace gyre_test;

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
