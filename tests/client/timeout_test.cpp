// tests/client/timeout_test.cpp: the limits of the phases of a request.
#include "tests/client/scripted_server.hpp"

#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

/// Answers nothing.
gyre::task<> say_nothing(peer& client) { (void)co_await client.rest(); }

/// Delivers nothing.
gyre::task<std::string_view> never() {
  co_await gyre::event().wait();
  co_return "";
}

/// Sends the first bytes, and then the others each millisecond.
peer_script goes_on_sending(std::string first, std::string then) {
  return [first = std::move(first), then = std::move(then)](peer& client) -> gyre::task<> {
    co_await client.send(first);
    for (;;) {
      co_await client.send(then);
      co_await gyre::sleep(1ms);
    }
  };
}

}  // namespace

TEST(client_timeout, a_server_that_sends_nothing_or_no_end_is_left_at_the_limit_of_the_phase_or_of_all) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  struct endless {
    peer_script script;
    http::client_timeouts limits;
    std::string error;
  };
  for (const endless& each : std::vector<endless>{
           {say_nothing, {.first_byte = 5ms}, "(waiting for the response): timed out after 5 ms"},
           {say_nothing, {.total = 50ms}, "(waiting for the response): timed out after 50 ms"},
           {goes_on_sending("", "HTTP/1.1 102 Processing\r\n\r\n"),
            {.first_byte = 10ms},
            "(waiting for the response): timed out after 10 ms"},
           {goes_on_sending("HTTP/1.1 200 OK\r\nX: ", "y"),
            {.first_byte = 50ms},
            "(waiting for the response): timed out after 50 ms"},
           {answers_and_waits("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhe"),
            {.between_bytes = 5ms},
            "(receiving the body): timed out after 5 ms"},
           {goes_on_sending("HTTP/1.1 200 OK\r\n\r\n", "more"),
            {.total = 50ms},
            "(receiving the body): timed out after 50 ms"},
           {goes_on_sending(chunked + "1;a=\"", "y"), {.total = 50ms}, "(receiving the body): timed out after 50 ms"},
           {goes_on_sending(chunked + "1\r\nx\r\n0\r\nTrailer: ", "y"),
            {.total = 50ms},
            "(receiving the body): timed out after 50 ms"}})
    expect_fetched(each.script, "GET URL " + each.error, {.timeouts = each.limits});
}

TEST(client_timeout, the_time_of_an_observer_is_not_that_of_the_server) {
  with_server(
      answers_and_waits("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.timeouts = {.first_byte = 50ms}});
        auto request = client.request("GET", server.url());
        request.on_interim([](int, std::span<const http::field>) -> gyre::task<> { co_await gyre::sleep(200ms); });
        auto response = co_await request.send();
        EXPECT_EQ(co_await response.read_all(), "done");
      });
}

TEST(client_timeout, the_time_of_an_observer_counts_for_the_total) {
  with_server(answers_and_waits("HTTP/1.1 103 Early Hints\r\n\r\n"), [](scripted_server& server) -> gyre::task<> {
    http::client client({.timeouts = {.total = 50ms}});
    auto request = client.request("GET", server.url());
    request.on_interim([](int, std::span<const http::field>) -> gyre::task<> { co_await gyre::sleep(100ms); });
    auto sending = request.send();
    const std::string error = co_await error_of(std::move(sending));
    EXPECT_TRUE(error.ends_with("timed out after 50 ms")) << error;
  });
}

TEST(client_timeout, a_server_that_does_not_read_is_left) {
  const std::string text(20'000'000, 'y');
  gyre::event left;
  with_server([&](peer&) -> gyre::task<> { co_await left.wait(); },
              [&](scripted_server& server) -> gyre::task<> {
                http::client client({.timeouts = {.between_bytes = 20ms}});
                auto request = client.request("POST", server.url());
                EXPECT_EQ(co_await error_of(request.body(text).send()),
                          "POST " + server.url() + " (sending the request): timed out after 20 ms");
                left.set();
              });
}

TEST(client_timeout, a_limit_that_ends_a_request_in_pieces_does_not_end_the_next_one) {
  gyre::event left;
  with_server(
      [&](peer& client) -> gyre::task<> {
        if (client.number() == 1) co_return co_await left.wait();
        (void)co_await client.request();
        co_await client.answer("taken");
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client({.timeouts = {.between_bytes = 200ms}});
        auto first = client.request("POST", server.url());
        EXPECT_EQ(co_await error_of(first.body(std::string(20'000'000, 'y')).send()),
                  "POST " + server.url() + " (sending the request): timed out after 200 ms");
        auto second = client.request("POST", server.url());
        auto response = co_await second.body(std::string(100'000, 'z')).send();
        EXPECT_EQ(co_await response.read_all(), "taken");
        left.set();
      });
}

TEST(client_timeout, the_request_has_a_time_limit_of_its_own) {
  with_client(say_nothing, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("GET", server.url());
    EXPECT_EQ(co_await error_of(request.timeout(50ms).send()),
              "GET " + server.url() + " (waiting for the response): timed out after 50 ms");
  });
}

TEST(client_timeout, the_time_limit_of_the_calling_task_applies) {
  with_client(say_nothing, [](http::client& client, scripted_server& server) -> gyre::task<> {
    EXPECT_EQ((co_await error_of(gyre::timeout(3ms, client.get(server.url())))).find("timeout: timed out after 3 ms"),
              0U);
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_timeout, the_total_covers_a_body_that_waits_for_its_source_or_for_100_continue) {
  const auto expect_timeout = [](peer_script script, auto set_body) {
    with_client(std::move(script),
                [&](http::client& client, scripted_server& server) -> gyre::task<> {
                  auto request = client.request("POST", server.url());
                  set_body(request);
                  EXPECT_EQ(co_await error_of(request.send()),
                            "POST " + server.url() + " (sending the request): timed out after 50 ms");
                  EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
                },
                {.timeouts = {.expect = 5h, .total = 50ms}});
  };
  const auto of_no_end = [](http::client_request& request) { request.body(never); };
  expect_timeout(say_nothing, of_no_end);
  expect_timeout(answers_early("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), of_no_end);
  expect_timeout(say_nothing, [](http::client_request& request) { request.body("text").expect_continue(); });
}

TEST(client_timeout, a_total_that_ends_while_the_connector_blocks_the_thread_ends_the_request) {
  with_server(say_nothing, [](scripted_server& server) -> gyre::task<> {
    const auto connect = [](const http::url& to) -> gyre::task<gyre::tcp_stream> {
      auto stream = co_await gyre::tcp_stream::connect(std::string(to.authority()));
      std::this_thread::sleep_for(5ms);
      co_return stream;
    };
    http::client client({.timeouts = {.total = 2ms}, .connector = connect});
    auto request = client.request("POST", server.url());
    std::string_view piece = "abc";
    request.body([&piece]() -> gyre::task<std::string_view> { co_return std::exchange(piece, ""); }, 3);
    EXPECT_NE((co_await error_of(request.send())).find("timed out after 2 ms"), std::string::npos);
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_timeout, the_limit_of_a_connection_that_was_closed_while_idle_does_not_touch_the_next_one) {
  run_real([]() -> gyre::task<> {
    scripted_server server([](peer& client) -> gyre::task<> {
      (void)co_await client.request();
      co_await client.answer("hello");
      (void)co_await client.request();
      if (client.number() > 1) co_await client.answer("again");
    });
    auto serving = gyre::spawn(server.run());
    int opened = 0;
    // The second connection takes longer than the limit of the request on the first one.
    const auto connect = [&opened](const http::url& to) -> gyre::task<gyre::tcp_stream> {
      if (++opened > 1) co_await gyre::sleep(30ms);
      co_return co_await gyre::tcp_stream::connect(std::string(to.authority()));
    };
    {
      http::client client({.timeouts = {.first_byte = 5ms}, .connector = connect});
      EXPECT_EQ(co_await fetched(client, server.url()), "hello");
      EXPECT_EQ(co_await fetched(client, server.url()), "hello");
      EXPECT_EQ(client.counts().retried, 1U);
    }
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(client_timeout, a_connection_that_comes_too_late_is_an_error) {
  // A listener whose backlog is full lets nobody in.
  run_real([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0", {.backlog = 1});
    std::vector<gyre::tcp_stream> crowd;
    try {
      for (int i = 0; i < 10; ++i)
        crowd.push_back(co_await gyre::timeout(20ms, gyre::tcp_stream::connect(listener.local_address())));
    } catch (const gyre::timed_out&) {
    }
    http::client client({.timeouts = {.connect = 5ms}});
    EXPECT_EQ(co_await fetched(client, "http://" + listener.local_address().string() + "/"),
              "GET URL (connecting): timed out after 5 ms");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

// On virtual time. Each phase has a limit of its own, and the total is shorter.
TEST(client_timeout, the_total_ends_a_request_in_whatever_phase_it_is) {
  const auto error_in = [](auto connect) {
    std::string error;
    gyre::testing::run_test([&]() -> gyre::task<> {
      http::client client({.timeouts = {.queue = 1h, .connect = 1h, .tls = 1h, .total = 2s},
                           .limits = {.connections_per_origin = 1},
                           .connector = connect});
      const auto begin = gyre::now();
      auto first = gyre::spawn(error_of(client.get("https://a.test/")));
      co_await gyre::yield();
      error = co_await error_of(client.request("GET", "https://a.test/").timeout(1s).send());
      EXPECT_EQ(gyre::now() - begin, 1s);
      const std::string later = co_await first;
      EXPECT_EQ(gyre::now() - begin, 2s);
      error = later + "\n" + error;
      EXPECT_EQ(client.counts().in_use + client.counts().waiting, 0U);
    });
    return error;
  };
  const std::string queued = "\nGET https://a.test/ (waiting for a connection): timed out after 1 s";
  const auto never = [](const http::url&) -> gyre::task<gyre::memory_stream> {
    co_await gyre::event().wait();
    co_return gyre::memory_stream();
  };
  EXPECT_EQ(error_in(never), "GET https://a.test/ (connecting): timed out after 2 s" + queued);
  std::vector<gyre::memory_stream> servers;
  const auto silent = [&servers](const http::url&) -> gyre::task<gyre::memory_stream> {
    gyre::memory_pair both;
    servers.push_back(std::move(both.second));
    co_return std::move(both.first);
  };
  EXPECT_EQ(error_in(silent), "GET https://a.test/ (TLS handshake): timed out after 2 s" + queued);
}
