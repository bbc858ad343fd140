// tests/tls/https_test.cpp: an HTTP server over TLS: requests, bodies, and the end.
#include "tests/support/seeds.hpp"
#include "tests/tls/cut_stream.hpp"
#include "tests/tls/https_server.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

http::handler echo() {
  return [](http::request& r) -> gyre::task<response> {
    std::string body = co_await r.body().read_all();
    co_return response::text(std::move(body));
  };
}

std::string many(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 23 + i / 1000 % 3);
  return text;
}

std::string post(const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST(https_server, a_server_answers_requests_one_after_the_other_and_several_at_once) {
  run_on_sockets(over_tls(says("hello")), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    for (int i = 0; i < 3; ++i) {
      co_await client.send(hello_request);
      EXPECT_EQ((co_await client.answer()).body, "hello");
    }
    std::string batch;
    for (int i = 0; i < 200; ++i) batch += hello_request;
    co_await client.send(batch);
    for (int i = 0; i < 200; ++i) EXPECT_EQ((co_await client.answer()).body, "hello");
    EXPECT_EQ(server.server().connections(), 1U);
  });
}

TEST(https_server, a_request_in_single_bytes_is_answered) {
  run_on_sockets(over_tls(echo()), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    for (const char each : post("abc")) co_await client.send(std::string(1, each));
    EXPECT_EQ((co_await client.answer()).body, "abc");
  });
}

TEST(https_server, a_large_response_reaches_a_client_that_reads_late) {
  const std::string body = many(5'000'000);
  auto routes = [&body](http::request&) { return response::text(std::string_view(body)); };
  run_on_sockets(over_tls(routes), [&body](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    co_await client.send(hello_request + hello_request);
    for (int i = 0; i < 100; ++i) co_await gyre::yield();
    EXPECT_TRUE((co_await client.answer()).body == body);
    EXPECT_TRUE((co_await client.answer()).body == body);
  });
}

// The socket takes parts of these responses, which are small enough to be written at once.
TEST(https_server, many_responses_reach_a_client_that_reads_late) {
  const std::string body = many(15'000);
  auto routes = [&body](http::request&) { return response::text(std::string_view(body)); };
  run_on_sockets(over_tls(routes), [&body](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    constexpr int count = 1000;
    auto send = [&client]() -> gyre::task<> {
      for (int i = 0; i < count; ++i) co_await client.send(hello_request);
    };
    auto sending = gyre::spawn(send());
    for (int i = 0; i < 2000; ++i) co_await gyre::yield();
    for (int i = 0; i < count; ++i) EXPECT_TRUE((co_await client.answer()).body == body);
    co_await sending;
  });
}

TEST(https_server, a_body_of_any_size_arrives) {
  http::server_options options = over_tls(echo());
  options.limits.body = 10'000'000;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    for (const std::size_t size : {0U, 1U, 16'383U, 16'384U, 16'385U, 70'000U, 3'000'000U}) {
      const std::string body = many(size);
      auto both = gyre::gather(client.send(post(body)), client.answer());
      EXPECT_TRUE((co_await std::move(both)).get<1>().body == body) << size;
    }
  });
}

TEST(https_server, a_server_sends_files_of_any_size) {
  std::string folder = (std::filesystem::temp_directory_path() / "gyre_https_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const gyre::scope_exit at_end([&folder] { std::filesystem::remove_all(folder); });
  const std::string content = many(3'333'333);
  std::ofstream(folder + "/file", std::ios::binary) << content;
  http::router routes;
  routes.get("/{path...}", http::static_files(folder));
  run_on_sockets(over_tls(std::move(routes)), [&content](socket_server& server) -> gyre::task<> {
    EXPECT_TRUE((co_await get_over_tls(server, "/file")).body == content);
    auto client = co_await connect_over_tls(server);
    co_await client.send("GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=5-100\r\n\r\n");
    EXPECT_EQ((co_await client.answer()).body, content.substr(5, 96));
  });
}

TEST(https_server, a_handler_knows_the_names_of_the_client_and_of_the_host) {
  const auto identity = tls::certificate::self_signed({"client 7"});
  auto settings = server_with_certificate();
  settings.clients = tls::client_certificates::optional;
  settings.client_authorities = identity.chain;
  settings.protocols = {"http/1.1"};
  auto routes = [](http::request& r) {
    const gyre::secure_session* const s = r.security();
    if (s == nullptr) return response::text("plain");
    return response::text(s->peer_name() + '|' + std::string(s->server_name()) + '|' + std::string(s->protocol()));
  };
  run_on_sockets(over_tls(routes, settings), [&](socket_server& server) -> gyre::task<> {
    EXPECT_EQ((co_await get_over_tls(server, "/")).body, "|server.test|");
    auto client = client_that_trusts();
    client.identity = identity;
    client.protocols = {"h2", "http/1.1"};
    EXPECT_EQ((co_await get_over_tls(server, "/", client)).body, "CN=client 7|server.test|http/1.1");
  });
  run_on_sockets(options_for(routes),
                 [](socket_server& server) -> gyre::task<> { EXPECT_EQ((co_await server.get("/")).body, "plain"); });
}

TEST(https_server, another_protocol_goes_on_over_the_encrypted_connection) {
  auto speak = [](gyre::any_stream stream) -> gyre::task<> {
    std::array<std::byte, 100> buffer{};
    while (const std::size_t n = co_await stream.read_some(buffer))
      co_await stream.write_all(std::span<const std::byte>(buffer).first(n));
  };
  auto routes = [&speak](http::request&) { return response::switch_protocols("echo", speak); };
  run_on_sockets(over_tls(routes), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
    EXPECT_EQ((co_await client.answer()).status, 101);
    co_await client.send("some text");
    while (client.received().size() < 9) (void)co_await client.receive();
    EXPECT_EQ(client.received(), "some text");
  });
}

// The limit passes while the thread is busy. In the same turn the loop finds a part of a record, which wins over the
// cancel and is no part of the body yet.
TEST(https_server, a_limit_that_passes_just_when_a_part_of_a_record_arrives_ends_the_body) {
  http::server_options options = over_tls(echo());
  options.timeouts.body = 20ms;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    bool cut = false;
    auto inner = co_await connect_to(here);
    cut_stream below{.inner = std::move(inner), .cut = &cut};
    const tls::client_config trusting(client_that_trusts());
    auto connecting = tls::connect(std::move(below), "server.test", trusting);
    auto stream = co_await std::move(connecting);
    http_client<tls::stream> client(std::move(stream));
    co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    co_await gyre::sleep(5ms);  // the server waits for the body
    cut = true;
    co_await client.send("body");
    std::this_thread::sleep_for(50ms);
    auto in_time = gyre::timeout(5s, client.answer());
    const auto answer = co_await std::move(in_time);
    EXPECT_EQ(answer.status, 408);
  });
}

TEST(https_server, connections_keep_their_configuration_when_there_is_a_new_one) {
  const auto next = tls::certificate::self_signed({"server.test"});
  http::server_options options = options_for(says("hello"));
  tls::server_sessions sessions{tls::server_config(server_with_certificate())};
  options.encryption = sessions;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    auto before = co_await connect_over_tls(server);
    sessions.set_config(tls::server_config({.certificates = {next}}));
    tls::client_options trusts_next;
    trusts_next.authorities = next.chain;
    EXPECT_EQ((co_await get_over_tls(server, "/", trusts_next)).body, "hello");
    co_await before.send(hello_request);
    EXPECT_EQ((co_await before.answer()).body, "hello");
    EXPECT_THROW((void)co_await get_over_tls(server, "/"), tls::tls_error);
  });
}

// Requests with bodies of any size, in pieces, pipelined, from several clients at once.
TEST(https_server, conversations_at_random_lose_no_byte) {
  for_each_seed(15, [](unsigned seed) {
    http::server_options options = over_tls(echo());
    options.limits.body = 10'000'000;
    run_on_sockets(std::move(options), [seed](socket_server& server) -> gyre::task<> {
      auto talk = [&server](unsigned own) -> gyre::task<> {
        choices choose(own);
        auto client = co_await connect_over_tls(server);
        std::vector<std::string> bodies;
        std::string all;
        for (std::size_t i = choose.between(1, 12); i > 0; --i) {
          bodies.push_back(many(choose.size_up_to(200'000)));
          all += post(bodies.back());
        }
        auto send = [&]() -> gyre::task<> {
          for (std::string_view rest = all; !rest.empty();) {
            const std::size_t size = std::min(rest.size(), choose.size_up_to(100'000));
            co_await client.send(std::string(rest.substr(0, size)));
            rest.remove_prefix(size);
          }
        };
        auto receive = [&]() -> gyre::task<> {
          for (const std::string& each : bodies) {
            const http_answer answer = co_await client.answer();
            EXPECT_TRUE(answer.body == each);
          }
        };
        auto both = gyre::gather(send(), receive());
        co_await std::move(both);
      };
      auto all = gyre::gather(talk(seed), talk(seed + 1), talk(seed + 2));
      co_await std::move(all);
    });
  });
}
