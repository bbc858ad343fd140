// bench/peers/uws_http.cpp: "Hello, World!" by uWebSockets. The argument is the number of threads (default 1); each has
// a loop and a listening socket of its own.
#include <App.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

namespace {

/// A port that stays reserved until the program ends. uWebSockets shares only ports that are given by number.
int free_port() {
  const int on = 1;
  sockaddr_in where{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(where);
  const int keeper = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setsockopt(keeper, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  ::bind(keeper, reinterpret_cast<const sockaddr*>(&where), size);
  ::getsockname(keeper, reinterpret_cast<sockaddr*>(&where), &size);
  return ntohs(where.sin_port);
}

void serve(int port, std::latch& listening) {
  auto hello = [](auto* response, auto* /*request*/) {
    response->writeHeader("Content-Type", "text/plain; charset=utf-8")->end("Hello, World!");
  };
  auto tell = [&listening](us_listen_socket_t* socket) {
    if (socket == nullptr) std::exit(1);
    listening.count_down();
  };
  uWS::App().get("/*", hello).listen("127.0.0.1", port, tell).run();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const int port = free_port();
  std::latch listening(threads);
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(serve, port, std::ref(listening));
  listening.wait();
  std::printf("listening on 127.0.0.1:%d\n", port);
  std::fflush(stdout);
}
