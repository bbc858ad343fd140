// tests/faults/http_faults_test.cpp: a failure in an HTTP server costs one request or one connection.
#include <gyre/http.hpp>
#include <gyre/http/compress.hpp>

#include "tests/faults/served_through.hpp"
#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"

#include <exception>
#include <filesystem>
#include <string>

using namespace gyre_test;
using http::request;
using http::response;

namespace {

class http_faults : public faults {};

constexpr std::size_t upload_size = 20'000;

/// A directory with files.
const std::string& public_directory() {
  static const scratch files;
  if (!files.has("list")) {
    files.put("page.html", std::string(3'000, 'p'));
    std::filesystem::create_directory(files.path("list"));
    files.put("list/one.txt", "1");
    files.put("list/two.txt", "2");
  }
  return files.root();
}

gyre::task<response> echo_whole(request& r) {
  std::string all = co_await r.body().read_all();
  co_return response::text(std::move(all));
}
response echo_stream(request& r) {
  auto produce = [&r](http::body_writer& out) -> gyre::task<> {
    for (;;) {
      const std::string_view piece = co_await r.body().receive();
      if (piece.empty()) break;
      co_await out.write(piece);
    }
  };
  return response::stream(produce);
}
response large(request&) { return response::text(std::string(100'000, 'l')); }

http::server_options all_routes() {
  http::router routes;
  routes.get("/hello/{name}",
             [](request& r) { return response::text("hello " + std::string(r.path_parameter("name"))); });
  routes.post("/whole", echo_whole);
  routes.post("/stream", echo_stream);
  routes.get("/files/{path...}", http::static_files(public_directory(), {.listing = true}));
  routes.get("/fresh/{path...}", http::static_files(public_directory(), {.keep_open = false}));
  routes.get("/large", large);
  http::server_options options = options_for(std::move(routes));
  options.timeouts.drain = 1ms;
  return options;
}

/// A request in which something fails gets an error response, or its connection breaks.
void expect_answer(const http_answer& answer, fault_injection& f) {
  if (!f.active() || answer.status == 200) return;
  EXPECT_TRUE(answer.status == 500 || answer.status == 503) << answer.status;
}

gyre::task<> ask(http::server& server, std::string text, fault_injection& f, int requests = 2) {
  auto stream = co_await gyre::tcp_stream::connect(server.where());
  tcp_client client(std::move(stream));
  for (int i = 0; i < requests; ++i) {
    co_await client.send(text);
    auto answering = client.answer();
    const auto answer = co_await gyre::timeout(5s, std::move(answering));
    expect_answer(answer, f);
  }
}

/// Sends `text` to a server in which something fails.
gyre::task<> server_outlives(fault_injection& f, std::string text) {
  http::server server(all_routes());
  co_await serve_through(f, server.run(), [&] GYRE_CORO_WRAPPER() { return ask(server, text, f); });
  EXPECT_EQ(server.connections(), 0U);
}

std::string get(std::string target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
std::string post(std::string target) {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(upload_size) + "\r\n\r\n" +
         std::string(upload_size, 'u');
}

gyre::task<> outlives_compressed_answers(fault_injection& f, std::string coding) {
  http::router routes;
  routes.use(http::compress());
  routes.get("/large", large);
  routes.get("/files/{path...}", http::static_files(public_directory()));
  http::server server(options_for(std::move(routes)));
  const std::string rest = " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: " + coding + "\r\n\r\n";
  const auto talk = [&]() -> gyre::task<> {
    co_await ask(server, "GET /large" + rest, f, 1);
    co_await ask(server, "GET /files/page.html" + rest, f, 1);
  };
  co_await serve_through(f, server.run(), talk);
}

}  // namespace

TEST_P(http_faults, a_server_outlives_requests_for_a_text) {
  survives(
      [](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, get("/hello/somebody-with-a-long-name")); });
}

TEST_P(http_faults, a_server_outlives_requests_for_something_large) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, get("/large")); });
}

TEST_P(http_faults, a_server_outlives_uploads_that_are_read_whole) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, post("/whole")); });
}

TEST_P(http_faults, a_server_outlives_uploads_that_are_streamed_back) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, post("/stream")); });
}

TEST_P(http_faults, a_server_outlives_requests_for_a_file) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, get("/files/page.html")); });
}

TEST_P(http_faults, a_server_outlives_requests_for_a_file_that_is_not_kept_open) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, get("/fresh/page.html")); });
}

TEST_P(http_faults, a_server_outlives_requests_for_a_directory) {
  survives([](fault_injection& f) -> gyre::task<> { co_await server_outlives(f, get("/files/list/")); });
}

TEST_P(http_faults, an_observer_learns_of_every_request_whose_handler_has_run) {
  survives([](fault_injection& f) -> gyre::task<> {
    struct counter : http::exchange_observer {
      void answered(const http::exchange& what) noexcept override { told += what.request.method() == "GET" ? 1 : 0; }
      int told = 0;
    } seen;
    int started = 0;
    http::server_options options = options_for([&](request&) {
      ++started;
      return response::text(std::string(9'000, 't'));
    });
    options.observer = &seen;
    http::server server(std::move(options));
    std::exception_ptr failure;  // of the client
    try {
      co_await serve_through(f, server.run(), [&] GYRE_CORO_WRAPPER() { return ask(server, get("/"), f); });
    } catch (...) {
      failure = std::current_exception();
    }
    EXPECT_EQ(seen.told, started);
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_P(http_faults, a_server_outlives_answers_compressed_with_gzip) {
  survives([](fault_injection& f) -> gyre::task<> { co_await outlives_compressed_answers(f, "gzip"); });
}

TEST_P(http_faults, a_server_outlives_answers_compressed_with_brotli) {
  survives([](fault_injection& f) -> gyre::task<> { co_await outlives_compressed_answers(f, "br"); });
}

TEST_P(http_faults, connections_beyond_the_limit_are_turned_away) {
  survives([](fault_injection& f) -> gyre::task<> {
    http::server_options options = all_routes();
    options.limits.connections = 1;
    options.limits.connections_per_address = 1;
    http::server server(std::move(options));
    const auto talk = [&]() -> gyre::task<> {
      auto first = co_await gyre::tcp_stream::connect(server.where());
      auto second = co_await gyre::tcp_stream::connect(server.where());
      tcp_client client(std::move(second));
      (void)co_await client.receive();
    };
    co_await serve_through(f, server.run(), talk);
  });
}

TEST_P(http_faults, a_connection_in_memory_ends_with_its_request) {
  survives([](fault_injection& f) -> gyre::task<> {
    http::server_options options = all_routes();
    options.listen.clear();
    http::server server(std::move(options));
    f.arm();
    gyre::memory_pair pair;
    auto talk = [&]() -> gyre::task<> {
      memory_client client(std::move(pair.second));
      co_await client.send(post("/stream"));
      const auto answer = co_await client.answer("POST");
      expect_answer(answer, f);
    };
    auto both = gyre::gather(server.serve_connection(gyre::any_stream(std::move(pair.first))), talk());
    co_await std::move(both);
  });
}

INSTANTIATE_TEST_SUITE_P(one, http_faults,
                         testing::Values(fault_kind::allocation, fault_kind::shortage, fault_kind::process_fds,
                                         fault_kind::fd_limit),
                         kind_name);
