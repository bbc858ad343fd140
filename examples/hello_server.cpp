// examples/hello_server.cpp: GET / answers "Hello, World!", POST /echo answers what it was sent.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace http = gyre::http;

// A handler that waits for something is a coroutine.
gyre::task<http::response> echo(http::request& request) {
  std::string body = co_await request.body().read_all();
  const std::string_view type = request.field("Content-Type");
  co_return http::response::bytes(std::move(body), type.empty() ? "application/octet-stream" : type);
}

gyre::task<> serve(std::string where, std::size_t threads) {
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("Hello, World!"); });
  routes.post("/echo", echo);
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);  // shared by all loops: these handlers keep nothing between requests
  options.threads = threads;
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  co_await server.run();  // until SIGINT or SIGTERM; then it drains
}

}  // namespace

int main(int count, char** arguments) {
  std::string where = "127.0.0.1:8080";
  std::size_t threads = 1;
  for (int i = 1; i < count; i += 2) {
    const std::string_view option = arguments[i];
    char* end = nullptr;
    if (option == "--listen" && i + 1 < count) {
      where = arguments[i + 1];
    } else if (option == "--threads" && i + 1 < count &&
               (threads = std::strtoul(arguments[i + 1], &end, 10), *end == '\0' && end != arguments[i + 1])) {
      if (threads == 0) threads = gyre::usable_cores();
    } else {
      std::fprintf(stderr, "usage: hello_server [--listen HOST:PORT] [--threads N]   (0: one for each usable core)\n");
      return 2;
    }
  }
  return gyre::run_main(serve(std::move(where), threads));
}
