// tests/tls/failed_handshakes_test.cpp: an HTTPS server tells its observer which handshakes have failed, and why.
#include "tests/support/failure_log.hpp"
#include "tests/tls/https_server.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

struct recorder final : http::handshake_observer {
  struct entry {
    std::string peer;
    std::string reason;
  };
  std::vector<entry> entries;

  void handshake_failed(const http::failed_handshake& what) noexcept override {
    entries.push_back({what.peer.string(), std::string(what.reason)});
  }
  /// Waits for the next failures, and returns the reason of the last one.
  gyre::task<std::string> after(std::size_t count) const {
    for (int i = 0; i < 10'000 && entries.size() < count; ++i) co_await gyre::sleep(1ms);
    co_return entries.size() == count ? entries.back().reason : std::to_string(entries.size()) + " failures";
  }
};

http::server_options observed(recorder& failures, const tls::server_options& settings = server_with_certificate()) {
  http::server_options options = over_tls(says("hello"), settings);
  options.failed_handshakes = &failures;
  return options;
}

gyre::task<> expect_served(socket_server& server, tls::client_options settings = client_that_trusts()) {
  const auto answer = co_await get_over_tls(server, "/", std::move(settings));
  EXPECT_EQ(answer.body, "hello");
}

}  // namespace

TEST(failed_handshakes, a_client_of_plain_http_is_named_as_such_with_its_address) {
  recorder failures;
  run_on_sockets(observed(failures), [&](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_to(server);
    co_await client.write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "handshake failed: the client spoke HTTP without TLS");
    EXPECT_EQ(failures.entries.at(0).peer, client.local_address().string());
    co_await expect_served(server);
  });
  EXPECT_EQ(failures.entries.size(), 1U);
}

TEST(failed_handshakes, every_method_of_plain_http_is_known_however_it_is_split) {
  recorder failures;
  run_on_sockets(observed(failures), [&](socket_server& server) -> gyre::task<> {
    std::size_t count = 0;
    for (const std::string_view method : {"GET /", "HEAD /", "POST /", "PUT /", "DELETE /", "CONNECT a:1", "OPTIONS *",
                                          "PATCH /", "TRACE /", "PRI *"}) {
      for (const std::size_t split : {0U, 1U, 4U, 5U}) {
        auto client = co_await connect_to(server);
        const std::string request = std::string(method) + " HTTP/1.1\r\nHost: a\r\n\r\n";
        if (split > 0) co_await client.write_all(request.substr(0, split));
        if (split > 0) co_await gyre::sleep(5ms);
        co_await client.write_all(request.substr(split));
        const std::string reason = co_await failures.after(++count);
        EXPECT_EQ(reason, "handshake failed: the client spoke HTTP without TLS") << method << ' ' << split;
      }
    }
  });
}

TEST(failed_handshakes, bytes_that_are_no_tls_are_told) {
  recorder failures;
  run_on_sockets(observed(failures), [&](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_to(server);
    co_await client.write_all("EHLO mail.test\r\n");
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "handshake failed: wrong version number");
  });
}

TEST(failed_handshakes, a_client_without_a_common_protocol_is_told) {
  recorder failures;
  auto settings = server_with_certificate();
  settings.protocols = {"http/1.1"};
  run_on_sockets(observed(failures, settings), [&](socket_server& server) -> gyre::task<> {
    auto client = client_that_trusts();
    client.protocols = {"h2"};
    EXPECT_NE(co_await error_of(get_over_tls(server, "/", client)), "");
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "handshake failed: no application protocol");
    co_await expect_served(server);
  });
}

TEST(failed_handshakes, a_missing_and_a_refused_certificate_of_a_client_are_told_apart) {
  recorder failures;
  const auto trusted = tls::certificate::self_signed({"client 7"});
  auto settings = server_with_certificate();
  settings.clients = tls::client_certificates::required;
  settings.client_authorities = trusted.chain;
  run_on_sockets(observed(failures, settings), [&](socket_server& server) -> gyre::task<> {
    auto client = client_that_trusts();
    EXPECT_NE(co_await error_of(get_over_tls(server, "/", client)), "");
    std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "handshake failed: peer did not return a certificate");
    client.identity = tls::certificate::self_signed({"somebody"});
    EXPECT_NE(co_await error_of(get_over_tls(server, "/", client)), "");
    reason = co_await failures.after(2);
    EXPECT_EQ(reason, "the peer's certificate is not accepted: self-signed certificate");
    client.identity = trusted;
    co_await expect_served(server, client);
  });
  EXPECT_EQ(failures.entries.size(), 2U);
}

TEST(failed_handshakes, a_client_that_refuses_the_certificate_of_the_server_is_told) {
  recorder failures;
  run_on_sockets(observed(failures), [&](socket_server& server) -> gyre::task<> {
    EXPECT_NE(co_await error_of(get_over_tls(server, "/", tls::client_options())), "");
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "the peer does not accept this side's certificate, or wants one: tlsv1 alert unknown ca");
  });
}

TEST(failed_handshakes, a_handshake_that_takes_too_long_is_told) {
  recorder failures;
  http::server_options options = observed(failures);
  options.timeouts.handshake = 50ms;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    auto begun = co_await connect_to(server);
    co_await begun.write_all(beginning_of_handshake);
    std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "the handshake took too long");
    auto silent = co_await connect_to(server);
    reason = co_await failures.after(2);
    EXPECT_EQ(reason, "the handshake took too long");
  });
}

TEST(failed_handshakes, a_client_that_leaves_in_the_middle_is_told_and_one_that_sent_nothing_is_not) {
  recorder failures;
  run_on_sockets(observed(failures), [&](socket_server& server) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) (void)co_await connect_to(server);  // as a health check of the port does
    {
      auto client = co_await connect_to(server);
      co_await client.write_all(beginning_of_handshake);
      co_await client.shutdown_write();
      std::array<std::byte, 100> rest{};
      (void)co_await gyre::as_expected(client.read_some(std::span<std::byte>(rest)));
    }
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "the client closed the connection");
    co_await expect_served(server);
  });
  EXPECT_EQ(failures.entries.size(), 1U);
}

TEST(failed_handshakes, a_handshake_that_is_given_up_for_others_is_told) {
  recorder failures;
  http::server_options options = observed(failures);
  options.limits.handshakes = 1;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    auto first = co_await connect_to(server);
    co_await first.write_all(beginning_of_handshake);
    std::array<std::byte, 100> rest{};
    auto second = co_await connect_to(server);
    co_await second.write_all(beginning_of_handshake);
    (void)co_await gyre::as_expected(first.read_some(std::span<std::byte>(rest)));
    const std::string reason = co_await failures.after(1);
    EXPECT_EQ(reason, "given up for newer ones, because of limits.handshakes");
    EXPECT_EQ(failures.entries.at(0).peer, first.local_address().string());
  });
}

TEST(failed_handshakes, handshakes_that_the_end_of_the_server_interrupts_have_not_failed) {
  recorder failures;
  http::server_options options = observed(failures);
  options.timeouts.last_request = 0s;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_to(server);
    co_await client.write_all(beginning_of_handshake);
    co_await expect_served(server);  // the other one has begun by now
    server.tell_to_stop();
    co_await server.stopped();
  });
  EXPECT_EQ(failures.entries.size(), 0U);
}

TEST(failed_handshakes, a_listener_reports_a_client_of_plain_http_to_the_handler_of_exceptions) {
  run_real([]() -> gyre::task<> {
    failure_log log;
    auto listener = tls::listener::bind("127.0.0.1:0", tls::server_config(server_with_certificate()));
    auto serving = gyre::spawn(listener.serve([](tls::stream) -> gyre::task<> { co_return; }));
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await client.write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < 10'000 && log.entries.empty(); ++i) co_await gyre::sleep(1ms);
    EXPECT_EQ(log.entries.at(0).what, "tls handshake " + client.local_address().string() +
                                          ": handshake failed: the client spoke HTTP without TLS");
    serving.cancel();
    co_await serving.wait();
  });
}
