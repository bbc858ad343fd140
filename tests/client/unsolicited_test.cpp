// tests/client/unsolicited_test.cpp: bytes that a server sends before there is a request are nobody's response.
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/client/encrypted_server.hpp"

#include <sys/socket.h>

#include <array>

using namespace gyre_test;

namespace {

constexpr std::string_view evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
constexpr std::size_t one_record = 16'384;  // the client reads that much from a connection that lends no buffers

/// The time between the unsolicited bytes and the next request.
enum class meanwhile : std::uint8_t { nothing, other_tasks, turn_of_loop, pause };
constexpr std::array every_timing{meanwhile::nothing, meanwhile::other_tasks, meanwhile::turn_of_loop,
                                  meanwhile::pause};

gyre::task<> pass(meanwhile what) {
  if (what == meanwhile::other_tasks) co_await gyre::yield();
  if (what == meanwhile::turn_of_loop) co_await gyre::sleep(1us);
  if (what == meanwhile::pause) co_await gyre::sleep(3ms);
}

/// A response of `size` bytes in all.
std::string response_of_size(std::size_t size) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Length: ";
  const std::size_t body = size - head.size() - 5 - 4;  // five digits, and the end of the head
  head += std::to_string(body) + "\r\n\r\n";
  return head + std::string(body, 'x');
}

/// Answers the first request of the first connection with a descriptor by which a test sends more.
struct first_peer {
  int descriptor = -1;
  peer_script script() {
    return [this](peer& client) -> gyre::task<> {
      if (client.number() == 1) descriptor = client.stream().native_descriptor();
      co_await say_hello(client);
    };
  }
  /// At once: the bytes are in the receive buffer of the client when this returns, and no turn of the loop has passed.
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
};

}  // namespace

TEST(client_unsolicited, bytes_are_not_the_response_to_the_next_request_at_any_timing) {
  for (const meanwhile when : every_timing)
    for (const std::string_view bytes : {evil, evil.substr(0, 1), evil.substr(0, evil.size() - 1)})
      for (const std::string method : {"GET", "POST"}) {
        first_peer first;
        with_client(first.script(), [&](http::client& client, scripted_server& server) -> gyre::task<> {
          EXPECT_EQ(co_await fetched(client, server.url()), "hello");
          first.send(bytes);
          co_await pass(when);
          auto second = client.request(method, server.url());
          auto response = co_await second.send();
          EXPECT_EQ(co_await response.read_all(), "hello") << static_cast<int>(when) << ' ' << bytes;
          EXPECT_EQ(server.connections(), 2);
          EXPECT_EQ(client.counts().retried, 0U);
        });
      }
}

TEST(client_unsolicited, an_end_that_the_loop_has_not_seen_costs_no_request) {
  for (const meanwhile when : every_timing)
    for (const bool reset : {false, true}) {
      first_peer first;
      with_client(first.script(), [&](http::client& client, scripted_server& server) -> gyre::task<> {
        EXPECT_EQ(co_await fetched(client, server.url()), "hello");
        const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
        EXPECT_EQ(reset ? ::connect(first.descriptor, &none, sizeof(none)) : ::shutdown(first.descriptor, SHUT_WR), 0);
        co_await pass(when);
        auto response = co_await client.post(server.url(), "text", "text/plain");  // would not be repeated
        EXPECT_EQ(co_await response.read_all(), "hello");
        EXPECT_EQ(server.connections(), 2);
        EXPECT_EQ(client.counts().retried, 0U);
      });
    }
}

TEST(client_unsolicited, bytes_on_a_stream_of_the_programs_own_are_nobodys) {
  for (const meanwhile when : every_timing)
    for (const std::size_t size : {std::size_t{100}, one_record - 1, one_record, one_record + 1, 2 * one_record})
      gyre::testing::run_test([&]() -> gyre::task<> {
        gyre::testing::http_mock_server server;
        const std::string first = response_of_size(std::max<std::size_t>(size, 10'100));
        server.reply_bytes(first + std::string(evil), gyre::testing::http_mock_server::then::stay_open);
        server.reply(200, "own");
        http::client client({.connector = server.connector()});
        (void)co_await fetched(client, "http://a.test/");
        co_await pass(when);
        EXPECT_EQ(co_await fetched(client, "http://a.test/"), "own") << static_cast<int>(when) << ' ' << size;
        EXPECT_EQ(server.connections(), 2);
      });
}

TEST(client_unsolicited, bytes_on_a_socket_that_the_program_has_connected_are_nobodys) {
  for (const meanwhile when : every_timing) {
    first_peer first;
    with_server(first.script(), [&](scripted_server& server) -> gyre::task<> {
      const std::string where = server.url().substr(7, server.url().size() - 8);
      http::client client({.connector = [where](const http::url&) -> gyre::task<gyre::any_stream> {
        auto stream = co_await gyre::tcp_stream::connect(where);
        co_return gyre::any_stream(std::move(stream));
      }});
      EXPECT_EQ(co_await fetched(client, server.url()), "hello");
      first.send(evil);
      co_await pass(when);
      EXPECT_EQ(co_await fetched(client, server.url()), "hello") << static_cast<int>(when);
      EXPECT_EQ(server.connections(), 2);
    });
  }
}

TEST(client_unsolicited, bytes_over_tls_are_nobodys) {
  tls::server_options settings;
  settings.certificates.push_back(certificate());
  const tls::server_config config(settings);
  for (const meanwhile when : every_timing)
    for (const std::size_t size : {std::size_t{10'100}, one_record, 2 * one_record})
      for (const bool in_one_write : {false, true})
        run_real([&]() -> gyre::task<> {
          auto listener = tls::listener::bind("127.0.0.1:0", config);
          const std::string url = "https://" + listener.local_address().string() + "/";
          int connections = 0;
          tls::stream first;
          auto serve = [&](tls::stream accepted) -> gyre::task<> {
            const bool is_first = ++connections == 1;
            std::array<char, 4096> request;
            (void)co_await accepted.read_some(std::as_writable_bytes(std::span(request)));
            std::string answer = is_first ? response_of_size(size) : "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown";
            if (is_first && in_one_write) answer += evil;
            co_await accepted.write_all(std::as_bytes(std::span(answer)));
            if (is_first)
              first = std::move(accepted);
            else
              (void)co_await gyre::as_expected(accepted.read_some(std::as_writable_bytes(std::span(request))));
          };
          auto serving = gyre::spawn(listener.serve(serve));
          http::client client(trusting());
          (void)co_await fetched(client, url);
          while (!first) co_await gyre::yield();
          if (!in_one_write) co_await first.write_all(std::as_bytes(std::span(evil)));
          co_await pass(when);
          EXPECT_EQ(co_await fetched(client, url), "own") << static_cast<int>(when) << ' ' << size << in_one_write;
          EXPECT_EQ(connections, 2);
          client.close_idle();
          first = tls::stream();
          serving.cancel();
          co_await serving.wait();
        });
}
