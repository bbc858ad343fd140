// bench/peers/asio_server.hpp: the same work with Asio's coroutines, on one thread.
#pragma once

#include "bench/bare/options.hpp"

#include <asio.hpp>

#include <vector>

namespace peers {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

template <class Protocol>
awaitable<void> serve(tcp::socket socket) {
  Protocol protocol;
  std::string scratch;
  std::vector<char> buffer(bare::buffer_size(4096));
  try {
    for (;;) {
      const std::size_t n = co_await socket.async_read_some(asio::buffer(buffer), use_awaitable);
      const std::string_view reply = protocol.answer({buffer.data(), n}, scratch);
      if (!reply.empty()) co_await asio::async_write(socket, asio::buffer(reply), use_awaitable);
    }
  } catch (const std::system_error&) {  // in Asio the end of the stream is an exception
  }
}

template <class Protocol>
awaitable<void> accept_all(tcp::acceptor acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve<Protocol>(std::move(socket)), asio::detached);
  }
}

template <class Protocol>
int run_asio(int argc, char** argv) {
  asio::io_context context(1);  // one thread: no locks
  const int fd = bare::listen_as_told(argc, argv, "asio");
  asio::co_spawn(context, accept_all<Protocol>(tcp::acceptor(context, tcp::v4(), fd)), asio::detached);
  context.run();
  return 0;
}

}  // namespace peers
