// examples/12_asio.cpp: Asio's sockets in gyre's tasks: an echo server that keeps its acceptor and needs no callbacks.
#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

gyre::task<> echo(tcp::socket peer) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto n =
        co_await gyre::as_expected(  // in Asio, the end of the stream is an error, and so is the time limit here
            gyre::timeout(30s, peer.async_read_some(asio::buffer(buffer), gyre::use_gyre)));
    if (!n) co_return;
    co_await asio::async_write(peer, asio::buffer(buffer.data(), *n), gyre::use_gyre);
  }
}

gyre::task<> serve(unsigned short port) {
  gyre::asio_thread asio_side;  // runs the io_context; the tasks stay on this thread
  tcp::acceptor acceptor(asio_side.context(), tcp::endpoint(asio::ip::address_v4::loopback(), port));
  std::fprintf(stderr, "echoing on 127.0.0.1:%u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    for (;;) {
      tcp::socket peer = co_await acceptor.async_accept(gyre::use_gyre);
      auto session = [](tcp::socket socket) -> gyre::task<> {
        try {
          co_await echo(std::move(socket));
        } catch (const std::exception& error) {  // a failure of one peer must not affect the others
          gyre::print_diagnostic({error.what()});
        }
      };
      group.spawn(session(std::move(peer)), {.name = "echo"});
    }
  };
  co_await gyre::task_group::scope(body);
}

}  // namespace

int main(int argc, char** argv) {
  unsigned port = 9000;
  if (argc > 1) std::sscanf(argv[1], "%u", &port);  // NOLINT(cert-err34-c): what is not a number leaves it as it is
  return gyre::run_main(serve(static_cast<unsigned short>(port)));
}
