// examples/13_asio_one_function.cpp: an echo server of Asio in the middle of the change to coroutines. Its session is
// a task; its acceptor still calls a handler.
#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

using asio::ip::tcp;

// The function that is converted: it was a class with a handler for each step.
gyre::task<> echo(tcp::socket peer) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto n = co_await gyre::as_expected(peer.async_read_some(asio::buffer(buffer), gyre::use_gyre));
    if (!n) co_return;
    co_await asio::async_write(peer, asio::buffer(buffer.data(), *n), gyre::use_gyre);
  }
}

// The rest is as it was, except that the handler spawns the session, and that the server owns its sessions.
class server {
 public:
  server(asio::io_context& context, tcp::endpoint where) : acceptor_(context, where) {
    std::fprintf(stderr, "echoing on 127.0.0.1:%u\n", static_cast<unsigned>(acceptor_.local_endpoint().port()));
    accept();
  }

  gyre::task<> stop() {
    acceptor_.close();
    sessions_.cancel();
    co_await sessions_.join();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](std::error_code error, tcp::socket peer) {
      if (error) return;  // closed
      sessions_.spawn(echo(std::move(peer)), {.name = "echo"});
      accept();
    });
  }

  tcp::acceptor acceptor_;
  gyre::async_scope sessions_;
};

gyre::task<> serve(unsigned short port) {
  asio::io_context context;
  const gyre::asio_on_loop asio_side(context);  // in place of context.run()
  server echoes(context, tcp::endpoint(asio::ip::address_v4::loopback(), port));
  std::exception_ptr failure;
  try {
    co_await gyre::stop_requested();  // SIGTERM
  } catch (...) {                     // thrown again below: C++ allows no await here
    failure = std::current_exception();
  }
  co_await gyre::shield(echoes.stop());  // in every case, because the sessions use the context
  if (failure) std::rethrow_exception(failure);
}

int main(int argc, char** argv) {
  unsigned port = 9000;
  if (argc > 1) std::sscanf(argv[1], "%u", &port);  // NOLINT(cert-err34-c): what is not a number leaves it as it is
  return gyre::run_main(serve(static_cast<unsigned short>(port)));
}
