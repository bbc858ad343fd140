// gyre/net/start_server.hpp: a server whose connections are a reader and a writer.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/net/open_connection.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/net/unix_listener.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace gyre {

/// Runs `client(stream_reader&, stream_writer&)`, which gives a task<>, for each connection of a listener. When it
/// returns, what is in the writer's buffer is sent, within the writer's `linger_limits`, and the connection closed.
/// Beyond these limits the peer gets a reset. That is not reported, as a reset by the peer is not: the peer does not
/// read.
///
/// Lifetime: `listener` outlives the await. Stop requests: same as stream_listener::serve.
/// Cancel: same as stream_listener::serve. Errors: same.
template <class Stream, class Client>
[[nodiscard]] task<> serve_connections(stream_listener<Stream>& listener, Client client, serve_options options = {}) {
  static_assert(
      requires(stream_connection& c) { typename decltype(client(c.reader, c.writer))::promise_type; },
      "start_server takes a function that is called with a stream_reader& and a stream_writer&, and returns a task");
  auto serve_one = [&client](Stream peer) -> task<> {
    stream_connection connection = make_connection(std::move(peer));
    co_await client(connection.reader, connection.writer);
    try {
      co_await connection.writer.wait_closed(connection.writer.lingers());
    } catch (const io_error& error) {
      if (error.code() != std::errc::timed_out && error.code() != std::errc::no_buffer_space) throw;
    }
  };
  co_await listener.serve(serve_one, options);
}

/// Listens on `where`, "host:port", and serves its connections as above. asyncio: start_server.
///
/// Stop requests: same as tcp_listener::serve. Cancel: same. Errors: same as tcp_listener::bind and serve.
template <class Client>
[[nodiscard]] task<> start_server(Client client, std::string where, listen_options listening = {},
                                  serve_options serving = {}) {
  auto listener = tcp_listener::bind(std::string_view(where), listening);
  co_await serve_connections(listener, std::move(client), serving);
}

/// The same at a path or an abstract name ("@name"). asyncio: start_unix_server.
///
/// Stop requests: same as unix_listener::serve. Cancel: same. Errors: same as unix_address, unix_listener::bind and serve.
template <class Client>
[[nodiscard]] task<> start_unix_server(Client client, std::string where, unix_listen_options listening = {},
                                       serve_options serving = {}) {
  auto listener = unix_listener::bind(unix_address(where), listening);
  co_await serve_connections(listener, std::move(client), serving);
}

}  // namespace gyre
