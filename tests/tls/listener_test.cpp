// tests/tls/listener_test.cpp: a server of encrypted streams, and its end.
#include <gyre/http.hpp>

#include "tests/tls/conversation.hpp"

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(tls_listener, a_listener_serves_connections_over_tcp_and_a_client_connects_by_name) {
  run_tls([]() -> gyre::task<> {
    auto echo = [](tls::stream peer) -> gyre::task<> {
      std::array<std::byte, 4096> buffer{};
      while (const std::size_t n = co_await peer.read_some(std::span<std::byte>(buffer)))
        co_await peer.write_all(std::span<const std::byte>(buffer).first(n));
      co_await peer.shutdown_write();
    };
    tls_server server(echo);
    auto talk = [&](unsigned number) -> gyre::task<> {
      auto stream = co_await server.connect();
      EXPECT_EQ(stream.peer_address(), server.listener.local_address());
      EXPECT_EQ(stream.local_address().host(), "127.0.0.1");
      const std::string text = random_text(20'000 + number, number);
      auto both = gyre::gather(write_and_end(stream, text), read_to_end(stream));
      EXPECT_EQ((co_await std::move(both)).get<1>(), text);
    };
    std::vector<gyre::task<>> all;
    for (unsigned i = 0; i < 20; ++i) all.push_back(talk(i));
    auto gathered = gyre::gather(std::move(all));
    co_await std::move(gathered);
    co_await server.cancel();
  });
}

TEST(tls_listener, a_listener_gives_up_the_oldest_handshakes_beyond_its_limit) {
  run_tls([]() -> gyre::task<> {
    auto greet = [](tls::stream peer) -> gyre::task<> {
      co_await peer.write_all("hello");
      co_await peer.shutdown_write();
    };
    tls_server server(greet);
    server.listener.limit_handshakes(2);
    std::vector<gyre::tcp_stream> silent;
    silent.reserve(5);
    for (int i = 0; i < 5; ++i) {
      silent.push_back(co_await gyre::tcp_stream::connect(server.listener.local_address()));
      std::array<std::byte, 1> nothing{};
      if (i < 2) continue;  // the others push one out
      const std::size_t count =
          co_await silent[static_cast<std::size_t>(i) - 2].read_some(std::span<std::byte>(nothing));
      EXPECT_EQ(count, 0U);
    }
    auto stream = co_await server.connect();
    const std::string text = co_await read_to_end(stream);
    EXPECT_EQ(text, "hello") << "an honest client beside clients that never finish";
    co_await server.cancel();
  });
}

TEST(tls_listener, a_listener_that_stops_gives_up_clients_that_have_sent_nothing) {
  run_tls([]() -> gyre::task<> {
    auto never = [](tls::stream) -> gyre::task<> {
      ADD_FAILURE() << "nobody has finished a handshake";
      co_return;
    };
    tls_server server(never, {.drain = 1h});
    auto silent = co_await gyre::tcp_stream::connect(server.listener.local_address());
    co_await gyre::sleep(5ms);
    gyre::request_stop();
    std::array<std::byte, 1> nothing{};
    EXPECT_EQ(co_await silent.read_some(std::span<std::byte>(nothing)), 0U);
    co_await server.serving.wait();
  });
}

TEST(tls_listener, a_stop_is_no_end_of_the_data) {
  run_tls([]() -> gyre::task<> {
    std::string stored;
    auto store = [&](tls::stream peer) -> gyre::task<> { stored = co_await read_to_end(peer); };
    tls_server server(store, {.drain = 1h});
    auto client = co_await server.connect();
    co_await client.write_all("0123456789");
    co_await gyre::sleep(5ms);
    gyre::request_stop();
    co_await gyre::sleep(5ms);
    EXPECT_EQ(stored, "");
    co_await client.write_all("abcdefghij");
    co_await client.shutdown_write();
    co_await server.serving.wait();
    EXPECT_EQ(stored, "0123456789abcdefghij");
  });
}

TEST(tls_listener, the_client_sees_no_close_notify_at_the_deadline_of_a_drain) {
  run_tls([]() -> gyre::task<> {
    auto serve = [](tls::stream peer) -> gyre::task<> { (void)co_await read_to_end(peer); };
    tls_server server(serve, {.drain = 20ms});
    auto client = co_await server.connect();
    co_await client.write_all("part");
    gyre::request_stop();
    const std::string seen = co_await error_of(read_to_end(client));
    EXPECT_NE(seen.find("Connection reset"), std::string::npos) << seen;
    co_await server.serving.wait();
  });
}

TEST(tls_listener, a_handler_ends_between_two_messages_when_its_server_stops) {
  run_tls([]() -> gyre::task<> {
    auto echo = [](tls::stream peer) -> gyre::task<> {
      std::array<std::byte, 3> buffer{};
      while (co_await peer.next_or_stop()) {
        const std::size_t n = co_await peer.read_some(std::span<std::byte>(buffer));
        co_await peer.write_all(std::span<const std::byte>(buffer).first(n));
      }
      co_await peer.shutdown_write();
    };
    tls_server server(echo, {.drain = 1h});
    auto client = co_await server.connect();
    co_await client.write_all("a message");
    std::array<std::byte, 9> reply{};
    co_await client.read_exactly(std::span<std::byte>(reply));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(reply.data()), reply.size()), "a message");
    co_await client.write_all("the last one");
    gyre::request_stop();
    const std::string rest = co_await read_to_end(client);  // with close_notify
    EXPECT_EQ(rest, "the last one");
    co_await server.serving.wait();
  });
}

TEST(tls_listener, the_wait_for_the_next_message_tells_the_end_and_a_truncation) {
  run_tls([]() -> gyre::task<> {
    std::vector<std::string> outcomes;
    auto wait = [&](tls::stream peer) -> gyre::task<> {
      try {
        const bool more = co_await peer.next_or_stop();
        outcomes.emplace_back(more ? "more" : "end");
      } catch (const tls::tls_error& error) {
        outcomes.push_back(error.code().message());
      }
    };
    tls_server server(wait);
    for (int i = 0; i < 2; ++i) {
      auto client = co_await server.connect();
      if (i == 0) co_await client.shutdown_write();
      if (i == 1) client = tls::stream();
      while (outcomes.size() < static_cast<std::size_t>(i) + 1) co_await gyre::sleep(1ms);
    }
    EXPECT_EQ(outcomes[0], "end");
    EXPECT_EQ(outcomes[1], "the connection ended without close_notify, so data may be missing");
    co_await server.cancel();
  });
}

TEST(tls_listener, an_http_server_serves_encrypted_connections) {
  run_tls([]() -> gyre::task<> {
    gyre::http::router routes;
    routes.get("/", [](gyre::http::request&) { return gyre::http::response::text("hello"); });
    gyre::http::server http({.listen = "", .routes = std::move(routes)});
    auto serve = [&](tls::stream peer) -> gyre::task<> {
      co_await http.serve_connection(gyre::any_stream(std::move(peer)));
    };
    tls_server server(serve);
    auto stream = co_await server.connect();
    co_await stream.write_all("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string response = co_await read_to_end(stream);
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\n")) << response;
    EXPECT_TRUE(response.ends_with("\r\n\r\nhello")) << response;
    co_await server.cancel();
  });
}
