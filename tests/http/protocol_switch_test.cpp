// tests/http/protocol_switch_test.cpp: connections that switch to another protocol.
#include <gyre/http/response.hpp>

#include "tests/http/socket_server.hpp"

using namespace gyre_test;
using http::response;

namespace {

/// Answers each byte with the next letter of the alphabet, until the client has finished.
gyre::task<> shout(gyre::any_stream peer) {
  std::array<std::byte, 3> buffer;
  for (;;) {
    const std::size_t n = co_await peer.read_some(buffer);
    if (n == 0) break;
    for (std::byte& each : buffer) each = static_cast<std::byte>(static_cast<int>(each) + 1);
    co_await peer.write_all(std::span<const std::byte>(buffer).first(n));
  }
  const std::string bye = "bye";
  co_await peer.write_all(std::as_bytes(std::span(bye)));
}

response switches(http::request&) { return response::switch_protocols("shout", shout); }

std::string asking_for(const std::string& protocols, const std::string& more = "") {
  return "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: " + protocols + "\r\n" + more + "\r\n";
}
const std::string upgrade = asking_for("shout");

}  // namespace

TEST(protocol_switch, the_other_protocol_begins_with_what_was_sent_behind_the_head) {
  run_on_sockets(options_for(switches), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const auto answer = co_await client.ask(upgrade + "ABCDEFG");
    EXPECT_EQ(answer.status, 101);
    EXPECT_EQ(answer.field("Upgrade"), "shout");
    EXPECT_EQ(answer.field("Connection"), "Upgrade");
    co_await client.send("HI");
    co_await client.shutdown_write();
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "BCDEFGHIJbye");
    EXPECT_FALSE(client.was_reset());
  });
}

TEST(protocol_switch, works_over_any_stream_and_behind_other_answers) {
  auto some = [](http::request& r) { return r.upgrade().empty() ? response::text("plain") : switches(r); };
  run_client(options_for(some), [&](memory_client& client) -> gyre::task<> {
    const auto plain = co_await client.ask(hello_request + upgrade + "A");
    EXPECT_EQ(plain.body, "plain");
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.status, 101);
    co_await client.shutdown_write();
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "Bbye");
  });
}

TEST(protocol_switch, connect_opens_a_tunnel_with_200_whatever_status_was_left) {
  auto tunnel = [](http::request& r) {
    EXPECT_EQ(r.host(), "db.example:5432");
    return response::switch_protocols("", shout);
  };
  run_client(options_for(tunnel), [](memory_client& client) -> gyre::task<> {
    const auto answer =
        co_await client.ask("CONNECT db.example:5432 HTTP/1.1\r\nHost: db.example:5432\r\n\r\nA", "CONNECT");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("Content-Length"), "");
    EXPECT_EQ(answer.field("Transfer-Encoding"), "");
    co_await client.shutdown_write();
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "Bbye");
  });
}

TEST(protocol_switch, connect_that_is_refused_is_an_ordinary_answer) {
  auto refuse = [](http::request&) { return response::switch_protocols("", shout).set_status(403); };
  run_client(options_for(refuse), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n" + hello_request, "CONNECT");
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.field("Content-Length"), "0");
    const auto next = co_await client.answer();
    EXPECT_EQ(next.status, 403);
  });
}

// After a 2xx response to CONNECT, the client would no longer speak HTTP, and its next bytes would be no request.
TEST(protocol_switch, connect_that_is_answered_like_another_method_is_refused_with_501_and_the_end) {
  for (const bool waits : {false, true}) {
    auto ordinary = [waits](http::request&) -> gyre::task<response> {
      if (waits) co_await gyre::sleep(1s);
      co_return response::text("hello").add_field("X", "1");
    };
    run_client(options_for(ordinary), [](memory_client& client) -> gyre::task<> {
      const auto answer = co_await client.ask("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n" + hello_request, "CONNECT");
      EXPECT_EQ(answer.status, 501);
      EXPECT_EQ(answer.field("Connection"), "close");
      const auto rest = co_await client.rest();
      EXPECT_EQ(rest, "") << "what comes behind it may be meant for the tunnel";
    });
  }
}

TEST(protocol_switch, a_client_that_has_not_asked_is_offered_the_protocol_with_426) {
  run_in_memory(options_for(switches), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.status, 426);
    EXPECT_EQ(answer.field("Upgrade"), "shout");
    EXPECT_EQ(answer.field("Connection"), "keep-alive, Upgrade");
    auto last = here.connect();
    const auto last_answer = co_await last.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(last_answer.field("Connection"), "close, Upgrade");
    auto old = here.connect();
    const auto old_answer = co_await old.ask("GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n");
    EXPECT_EQ(old_answer.status, 426);
  });
}

TEST(protocol_switch, an_answer_that_names_a_protocol_says_that_the_field_is_for_this_connection) {
  auto offers = [](http::request&) { return response::text("hello").add_field("upgrade", "shout"); };
  run_in_memory(options_for(offers), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("Connection"), "keep-alive, Upgrade");
  });
}

TEST(protocol_switch, a_client_that_has_asked_for_others_only_is_offered_the_protocol_with_426) {
  run_in_memory(options_for(switches), [](memory_server& here) -> gyre::task<> {
    for (const char* const others : {"h2c", "shout2", "whisper, h2c", "h2c/shout"}) {
      auto client = here.connect();
      const auto answer = co_await client.ask(asking_for(others));
      EXPECT_EQ(answer.status, 426) << others;
      EXPECT_EQ(answer.field("Upgrade"), "shout");
    }
  });
}

TEST(protocol_switch, the_protocol_may_be_any_of_those_asked_for_in_any_case_and_with_a_version) {
  run_in_memory(options_for(switches), [](memory_server& here) -> gyre::task<> {
    for (const char* const some :
         {"SHOUT", "h2c, shout", "shout/2, h2c", "h2c\r\nUpgrade: shout", "shout\r\nUpgrade: h2c"}) {
      auto client = here.connect();
      const auto answer = co_await client.ask(asking_for(some));
      EXPECT_EQ(answer.status, 101) << some;
    }
  });
}

TEST(protocol_switch, a_version_that_the_server_names_is_to_be_asked_for) {
  auto second = [](http::request&) { return response::switch_protocols("shout/2", shout); };
  run_in_memory(options_for(second), [](memory_server& here) -> gyre::task<> {
    for (const std::string some : {"shout", "shout/1", "Shout/2"}) {
      auto client = here.connect();
      const auto answer = co_await client.ask(asking_for(some));
      EXPECT_EQ(answer.status, some == "Shout/2" ? 101 : 426) << some;
    }
  });
}

TEST(protocol_switch, the_other_protocol_begins_behind_the_body_of_its_request) {
  run_client(options_for(switches), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(asking_for("shout", "Content-Length: 4\r\n") + "bodyA");
    EXPECT_EQ(answer.status, 101);
    co_await client.shutdown_write();
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "Bbye");
  });
}

TEST(protocol_switch, a_client_that_waits_for_100_with_its_body_gets_it_before_101) {
  run_client(options_for(switches), [](memory_client& client) -> gyre::task<> {
    co_await client.send(asking_for("shout", "Content-Length: 4\r\nExpect: 100-continue\r\n"));
    (void)co_await client.receive();
    EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
    const auto answer = co_await client.ask("body");
    EXPECT_EQ(answer.status, 101);
  });
}

TEST(protocol_switch, a_request_whose_body_cannot_be_passed_over_is_answered_with_400_and_the_end) {
  run_in_memory(options_for(switches), [](memory_server& here) -> gyre::task<> {
    for (const char* const body : {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n"}) {
      auto client = here.connect();
      const auto answer = co_await client.ask(asking_for("shout", body) + "x\r\n");
      EXPECT_EQ(answer.status, 400);
      co_await client.expect_end();
    }
  });
}

TEST(protocol_switch, an_exception_of_the_other_protocol_is_reported_and_ends_the_connection) {
  auto fail = [](gyre::any_stream) -> gyre::task<> {
    co_await gyre::yield();
    throw std::runtime_error("no such word");
  };
  run_in_memory(options_for([&](http::request&) { return response::switch_protocols("shout", fail); }),
                [](memory_server& here) -> gyre::task<> {
                  reports heard;
                  auto client = here.connect();
                  co_await client.send(upgrade);
                  (void)co_await client.rest();
                  EXPECT_EQ(heard.texts, (std::vector<std::string>{"no such word"}));
                  EXPECT_EQ(heard.names, (std::vector<std::string>{"GET /"}));
                  EXPECT_EQ(heard.kinds, (std::vector<std::string>{"protocol after request"}));
                  EXPECT_EQ(std::string(heard.places.at(0).file_name()), std::source_location::current().file_name());
                });
}

TEST(protocol_switch, a_client_that_resets_ends_the_other_protocol_and_is_not_reported) {
  gyre::event ended;
  auto read = [&](gyre::any_stream peer) -> gyre::task<> {
    const auto outcome = co_await gyre::as_result(shout(std::move(peer)));
    ended.set();
    if (!outcome) std::rethrow_exception(outcome.error());
  };
  run_on_sockets(options_for([&](http::request&) { return response::switch_protocols("shout", read); }),
                 [&](socket_server& here) -> gyre::task<> {
                   reports heard;
                   auto client = co_await here.connect();
                   (void)co_await client.ask(upgrade);
                   reset(client);
                   co_await ended.wait();
                   co_await gyre::yield();
                   EXPECT_EQ(heard.texts, std::vector<std::string>());
                 });
}

TEST(protocol_switch, is_cancelled_at_the_end_of_a_drain) {
  http::server_options options = options_for(switches);
  options.timeouts.drain = 300ms;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    (void)co_await client.ask(upgrade);
    const auto begin = gyre::now();
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_GE(since(begin), 300ms);
    EXPECT_LT(since(begin), 5s);
  });
}
