// gyre/net/start_server.hpp: a server whose connections are a reader and a writer.
#pragma once

#include <gyre/net/open_connection.hpp>
#include <gyre/net/tcp_listener.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gyre {

/// asyncio: start_server. Listens on `where` and runs `client(stream_reader&, stream_writer&)`, which gives a task<>, for each connection. When it
/// returns, what is in the writer's buffer is sent and the connection closed.
///
/// Cancel: drains, as tcp_listener::serve. Errors: as tcp_listener::bind and serve.
template <class Client>
[[nodiscard]] task<> start_server(Client client, std::string where, listen_options listening = {},
                                  serve_options serving = {}) {
  auto listener = tcp_listener::bind(std::string_view(where), listening);
  auto serve_one = [&client](tcp_stream peer) -> task<> {
    stream_connection connection = make_connection(std::move(peer));
    co_await client(connection.reader, connection.writer);
    connection.writer.close();
    co_await connection.writer.wait_closed();
  };
  co_await listener.serve(serve_one, serving);
}

}  // namespace gyre
