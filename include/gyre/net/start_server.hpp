// gyre/net/start_server.hpp: a server that gives each connection a reader and a writer.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/open_connection.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/net/unix_listener.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// Checks the function of a server, and returns the copy that the server keeps.
template <class Client>
auto kept_client(Client&& client) {
  static_assert(
      requires(std::decay_t<Client>& f, stream_connection& c) {
        typename decltype(f(c.reader, c.writer))::promise_type;
      }, "start_server takes a function that is called with a stream_reader& and a stream_writer&, and returns a task");
  static_assert(!may_be_destroyed_twice<Client>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  return std::decay_t<Client>(std::forward<Client>(client));
}

template <class Stream, class Client>
task<> serve_clients(stream_listener<Stream>& listener, Client client, serve_options serving) {
  auto serve_one = [&client](Stream peer) -> task<> {
    stream_connection connection = make_connection(std::move(peer));
    co_await client(connection.reader, connection.writer);
    try {
      co_await connection.writer.wait_closed(connection.writer.lingers());
    } catch (const io_error& error) {
      if (error.code() != std::errc::timed_out && error.code() != std::errc::no_buffer_space) throw;
    }
  };
  co_await listener.serve(serve_one, serving);
}
template <class Client>
task<> listen_and_serve(Client client, std::string where, listen_options listening, serve_options serving) {
  auto listener = tcp_listener::bind(std::string_view(where), listening);
  co_await serve_clients(listener, std::move(client), serving);
}
template <class Client>
task<> listen_and_serve(Client client, std::string where, unix_listen_options listening, serve_options serving) {
  auto listener = unix_listener::bind(unix_address(where), listening);
  co_await serve_clients(listener, std::move(client), serving);
}

/// Listens on `where`, "host:port", and runs `client(stream_reader&, stream_writer&)`, which returns a task<>, for each
/// connection. When it ends, the rest of the writer's buffer is sent, within the writer's `linger_limits`, and the
/// connection is closed. Beyond these limits the connection is reset. Like a reset by the peer, that is not reported:
/// the peer does not read. asyncio: start_server.
///
/// Stop requests: same as tcp_listener::serve; `client` can end between two messages with reader.next_or_stop().
/// Cancel: same. Errors: same as tcp_listener::bind and serve.
template <class Client>
[[nodiscard]] GYRE_CORO_WRAPPER task<> start_server(Client&& client, std::string where, listen_options listening = {},
                                                    serve_options serving = {}) {
  return listen_and_serve(kept_client(std::forward<Client>(client)), std::move(where), listening, serving);
}

/// The same on a tcp_listener or unix_listener that is bound already. asyncio: start_server(…, sock=…).
///
/// Lifetime: `listener` must outlive the await. Stop requests: same as stream_listener::serve. Cancel: same. Errors:
/// same.
template <class Client, class Stream>
[[nodiscard]] GYRE_CORO_WRAPPER task<> start_server(Client&& client, stream_listener<Stream>& listener,
                                                    serve_options serving = {}) {
  return serve_clients(listener, kept_client(std::forward<Client>(client)), serving);
}

/// The same at a path or an abstract name ("@name"). asyncio: start_unix_server.
///
/// Stop requests: same as unix_listener::serve. Cancel: same. Errors: same as unix_address, unix_listener::bind and
/// serve.
template <class Client>
[[nodiscard]] GYRE_CORO_WRAPPER task<> start_unix_server(Client&& client, std::string where,
                                                         unix_listen_options listening = {},
                                                         serve_options serving = {}) {
  return listen_and_serve(kept_client(std::forward<Client>(client)), std::move(where), listening, serving);
}

}  // namespace gyre
