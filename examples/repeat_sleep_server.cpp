// examples/repeat_sleep_server.cpp: repeat_sleep_threads with one coroutine per connection instead of a thread.
// GET /repeat?count=N answers N letters, GET /sleep?ms=X answers after X milliseconds.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

namespace http = gyre::http;

http::response repeat(http::request& request) {
  const auto count = request.query_parameter<std::size_t>("count");
  if (!count || *count > 10'000'000) throw http::status_error(400, "count is a number up to 10000000");
  return http::response::text(std::string(*count, 'x'));
}

gyre::task<http::response> sleep(http::request& request) {
  const auto ms = request.query_parameter<double>("ms");
  if (!ms || !(*ms >= 0 && *ms <= 60'000)) throw http::status_error(400, "ms is a number up to 60000");
  co_await gyre::sleep(std::chrono::duration<double, std::milli>(*ms));  // ends early when the client leaves
  co_return http::response::text("slept " + std::string(*request.query_parameter("ms")) + " ms\n");
}

gyre::task<> serve(std::string where) {
  http::router routes;
  routes.get("/repeat", repeat);
  routes.get("/sleep", sleep);
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  co_await server.run();
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: repeat_sleep_server [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(has_address ? arguments[2] : "127.0.0.1:8080"));
}
