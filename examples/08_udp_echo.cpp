// examples/08_udp_echo.cpp: sends every datagram back to where it came from.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>

namespace {

gyre::task<> echo(std::string where) {
  auto socket = gyre::udp_socket::bind(where);
  std::fprintf(stderr, "echoing on %s\n", socket.local_address().string().c_str());
  for (;;) {
    const auto datagram = co_await socket.receive();  // in a buffer of the loop, not copied
    co_await socket.send_to(datagram.payload, datagram.from);
  }
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(echo(argc > 1 ? argv[1] : "127.0.0.1:9000")); }
