// gyre/net/open_connection.hpp: a reader and a writer for a connection. asyncio: open_connection, start_server.
#pragma once

#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>
#include <gyre/tasks/spawn.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace gyre {

/// Both halves of a connection; the socket is closed when both are gone.
struct stream_connection {
  stream_reader reader;
  stream_writer writer;
};

/// A reader and a writer over any byte stream.
template <byte_stream S>
[[nodiscard]] stream_connection make_connection(S stream) {
  const shared_stream shared{any_stream(std::move(stream))};
  return {stream_reader(shared), stream_writer(shared)};
}

/// Resolves "host:port" and connects to the address that answers first (happy eyeballs).
///
/// Cancel: given up, and closed. Errors: io_error of the resolver, or of the first address that failed.
[[nodiscard]] GYRE_API task<stream_connection> open_connection(std::string host_and_port,
                                                               happy_eyeballs_options options = {});

/// Listens on `where` and runs `client(stream_reader&, stream_writer&)`, which gives a task<>, for each connection. When it
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
