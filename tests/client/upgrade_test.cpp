// tests/client/upgrade_test.cpp: connections that switch to another protocol. RFC 9110 §7.8.
#include <gyre/client/client.hpp>

#include "tests/client/scripted_server.hpp"

#include <span>
#include <string>

using namespace gyre_test;

namespace {

const std::string agreement = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n";

gyre::task<> send(gyre::any_stream& stream, std::string text) {
  co_await stream.write_all(std::as_bytes(std::span(text)));
}

/// Everything until the end, in pieces of three bytes.
gyre::task<std::string> rest_of(gyre::any_stream& stream) {
  std::string all;
  std::array<std::byte, 3> buffer;
  while (const std::size_t n = co_await stream.read_some(buffer))
    all.append(reinterpret_cast<const char*>(buffer.data()), n);
  co_return all;
}

gyre::task<std::string> failure_of(http::client& client, std::string url) {
  try {
    const auto response = co_await client.request("GET", url).upgrade("shout").send();
    co_return std::to_string(response.status());
  } catch (const http::client_error& error) {
    co_return error.code() == http::client_errc::unexpected_switch ? "unexpected_switch" : error.what();
  }
}

}  // namespace

TEST(client_upgrade, the_stream_begins_with_the_bytes_after_the_head_and_ends_in_both_directions) {
  const peer_script shouts = [](peer& client) -> gyre::task<> {
    const std::string request = co_await client.request();
    EXPECT_NE(request.find("\r\nConnection: Upgrade\r\nUpgrade: shout, whisper\r\n"), std::string::npos) << request;
    co_await client.send(agreement + "hello ");
    const std::string heard = co_await client.rest();
    co_await client.send("you said " + heard);
    client.close();
  };
  with_client(shouts, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.request("GET", server.url()).upgrade("shout, whisper").send();
    EXPECT_EQ(response.status(), 101);
    auto stream = response.take_stream();
    EXPECT_EQ(client.counts().in_use, 0U) << "it counts no more among the connections of the origin";
    response = {};
    co_await send(stream, "one ");
    co_await send(stream, "two");
    co_await stream.shutdown_write();
    const std::string all = co_await rest_of(stream);
    EXPECT_EQ(all, "hello you said one two");
    EXPECT_EQ(client.counts().idle, 0U);
  });
}

TEST(client_upgrade, a_head_that_arrives_in_pieces_loses_no_byte_of_the_protocol) {
  for (std::size_t cut = 1; cut < agreement.size() + 6; ++cut) {
    const peer_script in_two_pieces = [cut](peer& client) -> gyre::task<> {
      (void)co_await client.request();
      const std::string all = agreement + "a\r\n\r\nb";
      co_await client.send(all.substr(0, cut));
      for (int i = 0; i < 3; ++i) co_await gyre::yield_turn();
      co_await client.send(all.substr(cut));
      client.close();
    };
    with_client(in_two_pieces, [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto response = co_await client.request("GET", server.url()).upgrade("shout").send();
      auto stream = response.take_stream();
      const std::string all = co_await rest_of(stream);
      EXPECT_EQ(all, "a\r\n\r\nb") << "cut at " << cut;
    });
  }
}

TEST(client_upgrade, a_server_that_declines_gives_an_ordinary_response) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.request("GET", server.url()).upgrade("shout").send();
    EXPECT_EQ(response.status(), 200);
    const std::string body = co_await response.read_all();
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(client_upgrade, a_switch_that_was_not_asked_for_is_refused) {
  const auto refused = [](std::string answer) {
    with_client(answers_once(std::move(answer)), [](http::client& client, scripted_server& server) -> gyre::task<> {
      const std::string failure = co_await failure_of(client, server.url());
      EXPECT_EQ(failure, "unexpected_switch");
      EXPECT_EQ(client.counts().idle + client.counts().in_use, 0U);
    });
  };
  refused("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: whisper\r\n\r\n");
  refused("HTTP/1.1 101 Switching Protocols\r\nUpgrade: shout\r\n\r\n");
  refused("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n");
  with_client(answers_once(agreement), [](http::client& client, scripted_server& server) -> gyre::task<> {
    const std::string failure = co_await fetched(client, server.url());
    EXPECT_NE(failure.find("switches to a protocol"), std::string::npos) << failure;
  });
}

TEST(client_upgrade, a_response_whose_stream_is_not_taken_closes_the_connection) {
  bool closed = false;
  const peer_script waits = [&closed](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(agreement);
    (void)co_await client.rest();
    closed = true;
  };
  with_client(waits, [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.request("GET", server.url()).upgrade("shout").send();
    response = {};
    EXPECT_EQ(client.counts().idle + client.counts().in_use, 0U);
    while (!closed) co_await gyre::yield_turn();
  });
}

TEST(client_upgrade, a_stream_may_outlive_its_client) {
  const peer_script answers = [](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(agreement);
    const std::string heard = co_await client.rest();
    co_await client.send(heard);
    client.close();
  };
  with_server(answers, [](scripted_server& server) -> gyre::task<> {
    gyre::any_stream stream;
    {
      http::client client;
      auto response = co_await client.request("GET", server.url()).upgrade("shout").send();
      stream = response.take_stream();
    }
    co_await send(stream, "late");
    co_await stream.shutdown_write();
    const std::string all = co_await rest_of(stream);
    EXPECT_EQ(all, "late");
  });
}

TEST(client_upgrade, a_name_of_a_protocol_is_checked) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("GET", server.url());
    EXPECT_THROW(request.upgrade(""), std::invalid_argument);
    EXPECT_THROW(request.upgrade("a\r\nb: c"), std::invalid_argument);
    co_return;
  });
}

TEST(client_upgrade_death, a_stream_of_a_response_that_has_not_switched_stops_the_program) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.get(server.url());
    EXPECT_DEATH((void)response.take_stream(), "status 101");
  });
}
