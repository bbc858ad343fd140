// examples/sse_clock.cpp: a page that shows the server's time, sent as server-sent events.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

namespace {

namespace http = gyre::http;
using namespace std::chrono_literals;

constexpr std::string_view page = R"(<!DOCTYPE html>
<html lang="en">
<title>Clock</title>
<h1 id="time">…</h1>
<script>
  const events = new EventSource("/events");
  events.onmessage = event => { document.getElementById("time").textContent = event.data; };
</script>
</html>
)";

// Runs until it is cancelled because the client leaves, or until the server drains.
gyre::task<> tell_time(http::event_writer& events) {
  gyre::interval every_second(1s);
  for (;;) {
    const auto time = http::format_date(std::time(nullptr));
    co_await events.send({.data = std::string_view(time.data(), time.size())});
    co_await every_second.tick();
  }
}

gyre::task<> serve(std::string where) {
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::borrowed(page, "text/html; charset=utf-8"); });
  routes.get("/events", [](http::request&) { return http::event_stream(tell_time); });
  http::server_options options;
  options.listen = std::move(where);
  options.routes = std::move(routes);
  options.timeouts.drain = 1s;  // these responses never end on their own
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  co_await server.run();
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: sse_clock [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(has_address ? arguments[2] : "127.0.0.1:8080"));
}
