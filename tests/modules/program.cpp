// tests/modules/program.cpp: a program that imports gyre, and uses tasks, streams and HTTP.
#include <array>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

import gyre;

using namespace std::chrono_literals;
namespace http = gyre::http;

namespace {

gyre::task<int> factorial(int n) {
  if (n <= 1) co_return 1;
  co_return n* co_await factorial(n - 1);
}

gyre::task<> echo(gyre::tcp_stream peer) {
  std::array<std::byte, 64> buffer;
  while (const auto n = co_await peer.read_some(buffer)) co_await peer.write_all(std::span(buffer).first(n));
}

gyre::task<std::string> echoed(std::string text) {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
  auto server = gyre::spawn(listener.serve(echo));
  auto stream = co_await gyre::tcp_stream::connect(listener.local_address());
  co_await stream.write_all(text);
  std::string answer(text.size(), ' ');
  co_await stream.read_exactly(std::as_writable_bytes(std::span(answer)));
  server.cancel();
  co_await server.wait();
  co_return answer;
}

gyre::task<int> limited() {
  try {
    co_await gyre::timeout(1ms, []() -> gyre::task<> { co_await gyre::sleep(1h); });
  } catch (const gyre::timed_out&) {
    co_return 1;
  }
  co_return 0;
}

gyre::task<> program() {
  auto both = gyre::gather(factorial(5), limited());
  const auto numbers = co_await std::move(both);
  http::router routes;
  routes.get("/hello/{name}", [](http::request& r) -> gyre::task<http::response> {
    co_return http::response::text("hello " + std::string(r.path_parameter("name")));
  });
  const http::server server({.listen = "127.0.0.1:0", .routes = std::move(routes)});
  const std::string text = co_await echoed("bytes");
  std::printf("%d %d %s\n", numbers.get<0>(), numbers.get<1>(), text.c_str());
}

}  // namespace

int main() { return gyre::run_main(program()); }
