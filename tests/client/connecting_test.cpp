// tests/client/connecting_test.cpp: a host with several addresses, some of which are no good: RFC 8305. Unix sockets.
#include "tests/client/scripted_server.hpp"

#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

/// A listener whose backlog is full: it answers no further connection.
class silent_listener {
 public:
  explicit silent_listener(gyre::address where) : listener_(gyre::tcp_listener::bind(where, {.backlog = 1})) {}
  gyre::task<> fill() {
    try {
      for (int i = 0; i < 10; ++i)
        crowd_.push_back(co_await gyre::timeout(50ms, gyre::tcp_stream::connect(listener_.local_address())));
    } catch (const gyre::timed_out&) {
    }
  }

 private:
  gyre::tcp_listener listener_;
  std::vector<gyre::tcp_stream> crowd_;
};

// The lookup runs on another thread.
std::mutex lock;
std::vector<gyre::address> addresses;

http::client_options with_addresses(std::vector<gyre::address> all) {
  const std::scoped_lock one(lock);
  addresses = std::move(all);
  http::client_options options;
  options.resolving.lookup = [](const std::string&) {
    const std::scoped_lock reading(lock);
    return gyre::lookup_result{.addresses = addresses, .error = {}};
  };
  return options;
}

gyre::address at(std::string_view host, std::uint16_t port = 0) { return *gyre::address::parse(host, port); }

std::uint16_t port_of(const scripted_server& server) { return http::url(server.url()).port(); }

}  // namespace

TEST(client_connecting, an_address_that_says_nothing_has_a_start_of_250_ms) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    silent_listener silent(at("127.0.0.2", port_of(server)));
    co_await silent.fill();
    http::client client(with_addresses({at("127.0.0.2"), at("127.0.0.1")}));
    const auto begin = gyre::now();
    EXPECT_EQ(co_await fetched(client, named(server)), "hello");
    const auto used = gyre::now() - begin;
    EXPECT_GE(used, 250ms);
    EXPECT_LT(used, 900ms) << "the kernel tries the silent address again after a second";
    EXPECT_EQ(client.counts().opened, 1U);
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_connecting, an_address_that_refuses_has_no_start) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    auto options = with_addresses({at("127.0.0.3"), at("127.0.0.4"), at("::1"), at("127.0.0.1")});
    options.connecting.attempt_delay = 1h;
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, named(server)), "hello");
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_connecting, the_limit_is_for_all_addresses_together) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    silent_listener silent(at("127.0.0.2", port_of(server)));
    co_await silent.fill();
    auto options = with_addresses({at("127.0.0.2"), at("127.0.0.2"), at("127.0.0.2"), at("127.0.0.2")});
    options.timeouts.connect = 60ms;
    options.connecting.attempt_delay = 20ms;
    http::client client(options);
    EXPECT_EQ(co_await fetched(client, named(server)), "GET URL (connecting): timed out after 60 ms");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_connecting, the_address_that_connects_first_is_the_one_for_the_handshake) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    const auto connects = gyre::tcp_listener::bind(at("127.0.0.2", port_of(server)));
    auto options = with_addresses({at("127.0.0.2"), at("127.0.0.1")});
    options.timeouts.tls = 60ms;
    options.connecting.attempt_delay = 5ms;
    http::client client(options);
    EXPECT_EQ(co_await error_of(client.get(named(server, "https"))),
              "GET " + named(server, "https") + " (TLS handshake): timed out after 60 ms");
    EXPECT_EQ(server.connections(), 0) << "the next address was tried beside a handshake";
  });
}

TEST(client_connecting, requests_go_to_a_unix_socket_whatever_the_host) {
  run_real([]() -> gyre::task<> {
    http::server_options options;
    options.listen = "unix:@gyre-client-test-" + std::to_string(::getpid());
    options.routes = [](http::request& request) { return http::response::text(std::string(request.host())); };
    http::server server(std::move(options));
    auto serving = gyre::spawn(server.run());
    {
      http::client client({.unix_socket = server.where().substr(5)});
      EXPECT_EQ(co_await fetched(client, "http://any.test/"), "any.test");
      EXPECT_EQ(co_await fetched(client, "http://any.test/"), "any.test");
      EXPECT_EQ(client.counts().opened, 1U);
    }
    serving.cancel();
    co_await serving.wait();
    http::client client({.unix_socket = "/nowhere/x.sock"});
    EXPECT_EQ(co_await fetched(client, "http://a/"), "connect /nowhere/x.sock: No such file or directory");
  });
}
