// tests/http/server_input_test.cpp: requests may arrive in any pieces, and invalid ones are refused.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"

using namespace gyre_test;
using http::response;

namespace {

gyre::task<response> show(http::request& r) {
  std::string text = std::string(r.method()) + ' ' + std::string(r.target()) + ' ' + std::string(r.field("X")) + ' ';
  text += co_await r.body().read_all();
  co_return response::text(std::move(text));
}

/// One request of every kind, one after another.
const std::string requests =
    "GET /a?b HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n"
    "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    "\r\nPUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nfoo\r\n2\r\nba\r\n0\r\nT: 1\r\n\r\n"
    "HEAD /d HTTP/1.1\r\nHost: a\r\n\r\n"
    "GET /e HTTP/1.0\r\nX: last\r\n\r\n";

/// Removes the dates, which differ.
std::string without_dates(std::string bytes) {
  for (std::size_t at = bytes.find("Date: "); at != std::string::npos; at = bytes.find("Date: "))
    bytes.erase(at, bytes.find("\r\n", at) + 2 - at);
  return bytes;
}

gyre::task<std::string> answers_to(memory_server& server, const std::vector<std::string>& pieces) {
  auto client = server.connect();
  for (const std::string& each : pieces) {
    co_await client.send(each);
    co_await gyre::sleep(1ms);  // virtual time: the server has processed it
  }
  co_return without_dates(co_await client.rest());
}

int status_for(const std::string& request, const http::head_limits& limits = {}) {
  int status = 0;
  run_virtual([&]() -> gyre::task<> {
    http::server_options options = options_for(show);
    options.limits.head = limits;
    http_test_client app(std::move(options));
    const std::string bytes = co_await app.exchange_bytes(request);
    status = status_of(bytes);
    if (status >= 400) {
      EXPECT_NE(bytes.find("Connection: close\r\n"), std::string::npos) << request;
      EXPECT_EQ(bytes.find("HTTP/1.1 ", 1), std::string::npos) << "only one answer to " << request;
    }
  });
  return status;
}

std::string request_with(const std::string& fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }

// More senders than the loop has buffers, each in the middle of its body.
gyre::task<> send_in_two_parts(socket_server& here, std::size_t senders) {
  std::vector<tcp_client> clients;
  for (std::size_t i = 0; i < senders; ++i) {
    clients.push_back(co_await here.connect());
    co_await clients.back().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
    co_await clients.back().send("first");
  }
  for (tcp_client& each : clients) co_await each.send("secon");
  for (tcp_client& each : clients) {
    const auto answer = co_await each.answer();
    EXPECT_EQ(answer.body, "firstsecon");
  }
}

TEST(server_input, a_client_in_the_middle_of_its_body_keeps_no_buffer_from_others) {
  gyre::run_options few;
  few.loop.backend.buffer_count = 8;
  const auto repeat = [](http::request& r) -> gyre::task<http::response> {
    std::string body = co_await r.body().read_all();
    co_return http::response::text(std::move(body));
  };
  const auto main = [&]() -> gyre::task<> {
    socket_server here(options_for(repeat));
    auto limited = gyre::timeout(std::chrono::seconds(20), send_in_two_parts(here, 40));
    const auto outcome = co_await gyre::as_result(std::move(limited));
    EXPECT_TRUE(outcome.has_value());
    here.tell_to_stop();
    co_await here.stopped();
  };
  gyre::run(main, few);
}

}  // namespace

TEST(server_input, requests_are_the_same_in_every_split_and_byte_by_byte) {
  run_virtual([]() -> gyre::task<> {
    memory_server server(options_for(show));
    const std::vector<std::string> at_once = {requests};
    const std::string whole = co_await answers_to(server, at_once);
    EXPECT_NE(whole.find("GET /a?b 1 "), std::string::npos) << whole;
    EXPECT_NE(whole.find("POST /b  hello"), std::string::npos) << whole;
    EXPECT_NE(whole.find("PUT /c  fooba"), std::string::npos) << whole;
    EXPECT_TRUE(whole.ends_with("GET /e last ")) << whole;
    for (std::size_t at = 1; at < requests.size(); ++at) {
      const std::vector<std::string> halves = {requests.substr(0, at), requests.substr(at)};
      const std::string split = co_await answers_to(server, halves);
      EXPECT_EQ(split, whole) << "at " << at;
    }
    std::vector<std::string> bytes;
    for (const char c : requests) bytes.emplace_back(1, c);
    const std::string by_byte = co_await answers_to(server, bytes);
    EXPECT_EQ(by_byte, whole);
  });
}

TEST(server_input, requests_over_a_socket_are_the_same_in_pieces_of_every_size) {
  run_on_sockets(options_for(show), [](socket_server& here) -> gyre::task<> {
    std::string whole;
    for (std::size_t piece = requests.size(); piece > 0; piece = piece * 2 / 3) {
      auto client = co_await here.connect();
      for (std::size_t at = 0; at < requests.size(); at += piece) {
        co_await client.send(requests.substr(at, piece));
        co_await gyre::yield();
      }
      const std::string all = without_dates(co_await client.rest());
      if (whole.empty()) whole = all;
      EXPECT_EQ(all, whole) << "in pieces of " << piece;
    }
  });
}

TEST(server_input, an_overlong_target_field_or_head_is_refused_by_name) {
  const http::head_limits limits{.target = 20, .fields = 3, .size = 200};
  EXPECT_EQ(status_for(request_with("X: 1\r\n"), limits), 200);
  EXPECT_EQ(status_for("GET /" + std::string(20, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", limits), 414);
  EXPECT_EQ(status_for(request_with("A: 1\r\nB: 2\r\nC: 3\r\n"), limits), 431);
  EXPECT_EQ(status_for(request_with("A: " + std::string(200, 'a') + "\r\n"), limits), 431);
  EXPECT_EQ(status_for("GET /" + std::string(300, 'a'), limits), 414);
  EXPECT_EQ(status_for(std::string(300, 'a'), limits), 501) << "it is all method";
}

TEST(server_input, a_malformed_request_is_refused_with_400) {
  for (const std::string& each :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/1.1\nHost: a\n\n"), request_with("A : 1\r\n"),
        request_with("A\r\n"), request_with(" folded\r\n"), request_with("A: \x01\r\n"), request_with("Host: b\r\n"),
        request_with("Content-Length: 1, 1\r\n"), request_with("Content-Length: x\r\n"),
        request_with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
        request_with("Transfer-Encoding: chunked, chunked\r\n"), request_with("Transfer-Encoding: gzip\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: :80\r\n\r\n"), std::string("GET http://:80/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\n\r\n"), std::string("GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("GET / HTTP/x\r\nHost: a\r\n\r\n")})
    EXPECT_EQ(status_for(each), 400) << each;
}

TEST(server_input, an_unknown_coding_or_version_is_refused_with_501_or_505) {
  EXPECT_EQ(status_for(request_with("Transfer-Encoding: gzip, chunked\r\n")), 501);
  EXPECT_EQ(status_for("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
}

TEST(server_input, a_refusal_says_what_is_wrong_with_the_request) {
  run_virtual([]() -> gyre::task<> {
    http_test_client app(options_for(show));
    const std::pair<std::string, std::string_view> refused[] = {
        {request_with("Host: b\r\n"), "more than one Host field\n"},
        {request_with("Content-Length: x\r\n"), "malformed or repeated Content-Length\n"},
        {"GET / HTTP/1.1\r\n\r\n", "missing Host field\n"},
        {"PRI * HTTP/2.0\r\n\r\n", "unsupported HTTP version: expected HTTP/1.0 or HTTP/1.1\n"},
    };
    for (const auto& [request, reason] : refused) {
      const std::string bytes = co_await app.exchange_bytes(request);
      EXPECT_EQ(bytes.substr(bytes.find("\r\n\r\n") + 4), reason);
    }
  });
}

TEST(server_input, a_refusal_of_head_has_no_body) {
  run_virtual([]() -> gyre::task<> {
    http::server_options options = options_for(show);
    options.limits.head.target = 20;
    memory_server server(std::move(options));
    const std::string head = "HEAD / HTTP/1.1\r\nHost: a\r\n";
    const std::vector<std::string> refused = {head + "Host: b\r\n\r\n",
                                              head + "Expect: miracles\r\n\r\n",
                                              head + "Transfer-Encoding: gzip, chunked\r\n\r\n",
                                              head + "bad\r\n",
                                              "HEAD / HTTP/1.1\r\n\r\n",
                                              "HEAD / HTTP/2.0\r\n\r\n",
                                              "\r\n\r\nHEAD /" + std::string(300, 'a')};
    for (const std::string& each : refused) {
      auto client = server.connect();
      co_await client.send(each);
      const std::string bytes = co_await client.rest();
      EXPECT_GE(status_of(bytes), 400) << each;
      EXPECT_TRUE(bytes.ends_with("\r\n\r\n")) << each << bytes;
      EXPECT_EQ(bytes.find("Content-Length: 0"), std::string::npos) << "the length is that of the answer to GET";
    }
  });
}

TEST(server_input, requests_before_a_malformed_one_are_answered) {
  run_client(options_for(show), [](memory_client& client) -> gyre::task<> {
    const auto first = co_await client.ask(request_with("X: 1\r\n") + "nonsense\r\n\r\n");
    EXPECT_EQ(first.status, 200);
    const auto second = co_await client.answer();
    EXPECT_EQ(second.status, 400);
  });
}

TEST(server_input, a_refusal_arrives_though_the_client_goes_on_sending) {
  run_on_sockets(options_for(show), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const auto answer = co_await client.ask("nonsense\r\n\r\n" + std::string(500'000, 'x'));
    EXPECT_EQ(answer.status, 400);
    co_await client.expect_end();
    EXPECT_FALSE(client.was_reset());
  });
}

TEST(server_input, the_observer_hears_of_refusals_too) {
  struct log : http::exchange_observer {
    void answered(const http::exchange& what) noexcept override {
      lines.push_back(std::to_string(what.status) + ' ' + std::string(what.request.method()) + ' ' +
                      std::string(what.request.target()) + ' ' + std::string(what.request.route_pattern()) + ' ' +
                      std::to_string(what.body_bytes) + (what.complete ? "" : " cut off"));
    }
    std::vector<std::string> lines;
  } heard;
  http::router routes;
  routes.get("/{name}", says("hello"));
  http::server_options options = options_for(std::move(routes));
  options.observer = &heard;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(options));
    (void)co_await app.exchange_bytes(get_request("/a") + "HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n" + "nonsense\r\n\r\n");
  });
  EXPECT_EQ(heard.lines, (std::vector<std::string>{"200 GET /a /{name} 5", "200 HEAD /b /{name} 0", "400    26"}));
}
