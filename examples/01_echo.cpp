// examples/01_echo.cpp: a server in a dozen lines. Try it with: nc 127.0.0.1 8888
#include <gyre/gyre.hpp>

#include <array>

gyre::task<> echo(gyre::tcp_stream peer) {
  std::array<std::byte, 4096> buffer;
  while (co_await peer.next_or_stop()) {  // false at the end of the stream, and on SIGTERM
    const auto n = co_await peer.read_some(buffer);
    co_await peer.write_all(std::span(buffer).first(n));  // errors throw std::system_error
  }
}

gyre::task<> serve() {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:8888");
  co_await listener.serve(echo);  // a task for each connection; drains on SIGTERM
}

int main() { return gyre::run_main(serve()); }
