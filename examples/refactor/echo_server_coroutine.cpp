// examples/refactor/echo_server_coroutine.cpp: echo_server_blocking with a task for each connection, on one thread.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

gyre::task<> echo(gyre::tcp_stream peer) {
  std::array<char, 16384> buffer;
  while (co_await peer.next_or_stop()) {  // false at the end of the stream, and on SIGTERM
    const auto n = co_await peer.read_some(buffer);
    co_await peer.write_all(std::string_view(buffer.data(), n));  // errors throw std::system_error
  }
}

gyre::task<> serve(std::string where) {
  auto listener = gyre::tcp_listener::bind(where);
  std::fprintf(stderr, "echoing on %s\n", listener.local_address().string().c_str());
  co_await listener.serve(echo, {.drain = 10s});
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: echo_server_coroutine [--listen HOST:PORT]\n");
    return 2;
  }
  return gyre::run_main(serve(has_address ? arguments[2] : "127.0.0.1:8888"));
}
