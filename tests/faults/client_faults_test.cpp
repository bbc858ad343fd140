// tests/faults/client_faults_test.cpp: a failure in an HTTP client or a TLS stream costs one request or connection.
#include <gyre/client.hpp>
#include <gyre/http.hpp>
#include <gyre/tls.hpp>

#include "tests/faults/served_through.hpp"

#include <string>

using namespace gyre_test;
namespace http = gyre::http;
namespace tls = gyre::tls;

namespace {

class client_faults : public faults {};

const tls::certificate& certificate() {
  static const auto made = tls::certificate::self_signed({"127.0.0.1"});
  return made;
}
const tls::server_config& server_side() {
  static const tls::server_config config = [] {
    tls::server_options options;
    options.certificates.push_back(certificate());
    return tls::server_config(options);
  }();
  return config;
}
// One for each run, because it keeps sessions.
tls::client_config client_side() {
  const tls::client_options options{.authorities = certificate().chain, .protocols = {"http/1.1"}};
  return tls::client_config(options);
}

gyre::task<http::response> echo_request(http::request& request) {
  std::string text = co_await request.body().read_all();
  co_return http::response::text(std::move(text));
}

// Buffers that are soon full, so that a small body soon proves to be bulk, which moves through pipes.
constexpr gyre::io::backend_options small_buffers{.large_buffer_size = 16 * 1024};
constexpr std::size_t much = 100'000;

/// Gets a body from its own server, and passes it on.
gyre::task<http::response> pass_on_body(http::request& request) {
  http::client client({.timeouts = {.total = 5s}});
  http::client_response from = co_await client.get("http://" + std::string(request.host()) + "/much");
  struct passing {
    http::client_response from;
    gyre::task<> operator()(http::body_writer& to) { (void)co_await from.body().copy_to(to); }
  };
  const int status = from.status();
  const auto length = from.body().length();
  passing streamed{std::move(from)};
  auto response = http::response::stream(std::move(streamed), "text/plain");
  response.set_status(status);
  if (length) response.set_length(*length);
  co_return response;
}

/// Passes on the body of a request to its own server.
gyre::task<http::response> hand_over(http::request& request) {
  http::client client({.timeouts = {.total = 5s}});
  auto made = client.request("POST", "http://" + std::string(request.host()) + "/count");
  made.body(request.body());
  http::client_response from = co_await made.send();
  const std::string text = co_await from.read_all();
  auto response = http::response::text(text);
  response.set_status(from.status());
  co_return response;
}
gyre::task<http::response> count(http::request& request) {
  std::size_t size = 0;
  for (;;) {
    const std::string_view piece = co_await request.body().receive();
    if (piece.empty()) break;
    size += piece.size();
  }
  co_return http::response::text(std::to_string(size));
}

http::server_options routes() {
  http::router all;
  all.get("/much", [](http::request&) { return http::response::text(std::string(much, 'm')); });
  all.get("/passed", pass_on_body);
  all.post("/handed", hand_over);
  all.post("/count", count);
  all.post("/echo", echo_request);
  all.get("/large", [](http::request&) { return http::response::text(std::string(100'000, 'l')); });
  all.get("/away", [](http::request&) { return http::response::redirect("/large"); });
  all.get("/switch", [](http::request&) {
    return http::response::switch_protocols("shout", [](gyre::any_stream peer) -> gyre::task<> {
      co_await peer.write_all(std::as_bytes(std::span("hello", 5)));
    });
  });
  http::server_options options;
  options.listen = "127.0.0.1:0";
  options.routes = std::move(all);
  options.timeouts.drain = 1ms;
  return options;
}

/// A client of its own, so that nothing is left from other runs.
http::client_options patient() { return {.timeouts = {.total = 5s}, .cookies = true}; }

void expect_status(const http::client_response& response, const fault_injection& f, int expected) {
  if (f.active() && response.status() >= 500) return;
  EXPECT_EQ(response.status(), expected);
}

using asking = gyre::task<> (*)(http::client&, std::string, const fault_injection&);

gyre::task<> talk(std::string url, const fault_injection& f, asking ask, http::client_options options) {
  http::client client(std::move(options));
  for (int i = 0; i < 2; ++i) co_await ask(client, url, f);
  client.close_idle();
}

gyre::task<> client_outlives(fault_injection& f, asking ask, http::client_options options = patient()) {
  http::server server(routes());
  co_await serve_through(f, server.run(),
                         [&] GYRE_CORO_WRAPPER() { return talk("http://" + server.where(), f, ask, options); });
}

gyre::task<> encrypted_client_outlives(fault_injection& f, asking ask) {
  http::server_options options = routes();
  options.encryption = tls::server_sessions(server_side());
  http::server server(std::move(options));
  http::client_options trusting = patient();
  trusting.tls = client_side();
  co_await serve_through(f, server.run(),
                         [&] GYRE_CORO_WRAPPER() { return talk("https://" + server.where(), f, ask, trusting); });
}

gyre::task<> get_large(http::client& client, std::string url, const fault_injection& f) {
  auto request = client.request("GET", url + "/away");
  auto response = co_await request.header("X-Name", "value").send();
  expect_status(response, f, 200);
  const std::string text = co_await response.read_all();
  if (response.status() == 200) EXPECT_EQ(text.size(), 100'000U);
}

gyre::task<> get_passed(http::client& client, std::string url, const fault_injection& f) {
  const auto get = [&]() -> gyre::task<> {
    auto response = co_await client.get(url + "/passed");
    expect_status(response, f, 200);
    std::size_t size = 0;
    for (;;) {
      const std::string_view piece = co_await response.body().receive();
      if (piece.empty()) break;
      size += piece.size();
    }
    if (response.status() == 200) EXPECT_EQ(size, much);
  };
  auto both = gyre::gather(get(), get());
  co_await std::move(both);
}

gyre::task<> post_handed(http::client& client, std::string url, const fault_injection& f) {
  static const std::string sent(much, 's');
  const auto post = [&]() -> gyre::task<> {
    auto request = client.request("POST", url + "/handed");
    request.body(sent);
    auto response = co_await request.send();
    expect_status(response, f, 200);
    const std::string text = co_await response.read_all();
    if (response.status() == 200) EXPECT_EQ(text, std::to_string(much));
  };
  auto both = gyre::gather(post(), post());
  co_await std::move(both);
}

gyre::task<> post_pieces(http::client& client, std::string url, const fault_injection& f) {
  auto request = client.request("POST", url + "/echo");
  int left = 3;
  request.body([&left]() -> gyre::task<std::string_view> {
    static const std::string piece(10'000, 'p');
    co_return left-- > 0 ? std::string_view(piece) : std::string_view();
  });
  auto response = co_await request.send();
  expect_status(response, f, 200);
  const std::string text = co_await response.read_all();
  if (response.status() == 200) EXPECT_EQ(text.size(), 30'000U);
}

gyre::task<> switch_protocol(http::client& client, std::string url, const fault_injection& f) {
  auto request = client.request("GET", url + "/switch");
  auto response = co_await request.upgrade("shout").send();
  expect_status(response, f, 101);
  if (response.status() != 101) co_return;
  gyre::any_stream stream = response.take_stream();
  std::string text;
  std::array<std::byte, 100> buffer{};
  while (const std::size_t n = co_await stream.read_some(buffer))
    text.append(reinterpret_cast<const char*>(buffer.data()), n);
  EXPECT_EQ(text, "hello");
}

}  // namespace

TEST_P(client_faults, a_client_outlives_redirects_and_large_bodies) {
  survives([](fault_injection& f) -> gyre::task<> { co_await client_outlives(f, get_large); });
}

TEST_P(client_faults, a_server_that_passes_on_large_bodies_outlives_them) {
  survives([](fault_injection& f) -> gyre::task<> { co_await client_outlives(f, get_passed); }, small_buffers);
}

TEST_P(client_faults, a_server_that_passes_on_large_uploads_outlives_them) {
  survives([](fault_injection& f) -> gyre::task<> { co_await client_outlives(f, post_handed); }, small_buffers);
}

TEST_P(client_faults, a_client_outlives_bodies_that_are_made_while_they_are_sent) {
  survives([](fault_injection& f) -> gyre::task<> { co_await client_outlives(f, post_pieces); });
}

TEST_P(client_faults, a_client_outlives_switches_to_another_protocol) {
  survives([](fault_injection& f) -> gyre::task<> { co_await client_outlives(f, switch_protocol); });
}

TEST_P(client_faults, a_client_with_middleware_outlives_requests) {
  survives([](fault_injection& f) -> gyre::task<> {
    co_await client_outlives(f, [](http::client& client, std::string url, const fault_injection& g) -> gyre::task<> {
      client.use(http::propagate_trace());
      client.use(http::circuit_breaker({.failures = 100}));
      client.use(http::bearer_tokens(url, []() -> gyre::task<std::string> { co_return "a token of the program"; }));
      co_await get_large(client, url, g);
    });
  });
}

TEST_P(client_faults, a_client_with_a_connector_outlives_requests) {
  survives([](fault_injection& f) -> gyre::task<> {
    http::client_options options = patient();
    options.connector = [](const http::url& to) -> gyre::task<gyre::tcp_stream> {
      co_return co_await gyre::tcp_stream::connect(std::string(to.authority()));
    };
    co_await client_outlives(f, get_large, options);
  });
}

TEST_P(client_faults, an_encrypted_client_and_server_outlive_requests) {
  survives([](fault_injection& f) -> gyre::task<> { co_await encrypted_client_outlives(f, get_large); });
}

TEST_P(client_faults, an_encrypted_client_and_server_outlive_uploads) {
  survives([](fault_injection& f) -> gyre::task<> { co_await encrypted_client_outlives(f, post_pieces); });
}

TEST_P(client_faults, a_tls_listener_outlives_connections) {
  survives([](fault_injection& f) -> gyre::task<> {
    auto listener = tls::listener::bind("127.0.0.1:0", server_side());
    auto greet = [](tls::stream peer) -> gyre::task<> {
      std::array<std::byte, 5> buffer{};
      (void)co_await peer.read_exactly(std::span<std::byte>(buffer));
      co_await peer.write_all(std::string_view("hello"));
      co_await peer.shutdown_write();
    };
    const tls::client_config trusting = client_side();
    const auto meet = [&]() -> gyre::task<> {
      auto stream = co_await tls::connect(listener.local_address().string(), trusting);
      co_await stream.write_all(std::string_view("hello"));
      std::array<std::byte, 5> buffer{};
      (void)co_await stream.read_exactly(std::span<std::byte>(buffer));
    };
    co_await serve_through(f, listener.serve(greet), meet);
  });
}

INSTANTIATE_TEST_SUITE_P(all, client_faults,
                         testing::Values(fault_kind::allocation, fault_kind::shortage, fault_kind::process_fds,
                                         fault_kind::fd_limit),
                         kind_name);
