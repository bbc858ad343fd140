// examples/http_server.cpp: GET / answers "Hello, World!", POST /echo answers what it was sent.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace http = gyre::http;

// A handler that waits for something is a coroutine.
gyre::task<http::response> echo(http::request& request) {
  std::string body = co_await request.body().read_all();
  const std::string_view type = request.field("Content-Type");
  co_return http::response::bytes(std::move(body), type.empty() ? "application/octet-stream" : type);
}

gyre::task<> serve(std::string where) {
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("Hello, World!"); });
  routes.post("/echo", echo);
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  co_await server.run();  // until SIGINT or SIGTERM; then it drains
}

}  // namespace

int main(int count, char** arguments) {  // http_server [HOST:PORT]
  return gyre::run_main(serve(count > 1 ? arguments[1] : "127.0.0.1:8080"));
}
