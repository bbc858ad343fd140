// src/http/server/server.cpp: accepts connections on one loop or several.
#include <gyre/coro/await_place.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/http/server.hpp>
#include <gyre/tasks/task_group.hpp>

#include "counted_connection.hpp"
#include "server_drain.hpp"
#include "server_state.hpp"
#include "socket_connection.hpp"
#include "stream_connection.hpp"
#include "transport/stream_transport.hpp"

#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

// A server's open files belong to the loop, which may end before the server does.
class server_user {
 public:
  server_user(server_state& server, const char* operation) noexcept : server_(server) {
    server.owner.expect_own(operation);
    ++server.users;
  }
  server_user& operator=(server_user&&) = delete;
  ~server_user() {
    if (--server_.users > 0) return;
    server_.app.files.clear();
    server_.app.listings.clear();
  }

 private:
  server_state& server_;
};

// Makes the tasks of connections over sockets.
struct socket_connections {
  server_state& server;
  template <class Stream>
  task_state& make_task(Stream&& peer, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                        std::source_location where) {
    return socket_connection::create(server, std::move(peer), parent, owner, options, where);
  }
};

template <class Listener>
task<> run_here(server_state& server, Listener& listener, loop_share* share) {
  using stream = decltype(listener.accept().await_resume());
  const server_user here(server, "run");
  const std::source_location where = co_await started_by_program_at();
  served_connections connections(co_await this_task_context{}, server.app.options.observe_stop, share);
  socket_connections serve{server};
  // Created early: there may be no memory left when the server drains.
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  auto last = shield(served_connections::serve_the_last(connections, listener, serve, no_limit, where));
  auto draining =
      shield(drain(server, connections, served_connections::drain(connections, server.app.options.timeouts.drain)));
  std::exception_ptr failure;
  try {
    const served_connections::accepting accepting_here(connections);
    for (;;) {
      stream peer = co_await listener.accept();
      connections.serve(serve, std::move(peer), where);
    }
  } catch (const cancelled&) {  // draining was requested
  } catch (...) {
    failure = std::current_exception();
  }
  server.app.draining = true;
  if (!failure && !connections.forced()) co_await std::move(last);
  listener.stop();
  co_await std::move(draining);
  connections.close(failure);
}

template <class Stream>
task<> run_on_loops(server_state& server, stream_listener<Stream>& listener) {
  const std::source_location where = co_await started_by_program_at();
  const event_loop& home = event_loop::current();
  const server_user here(server, "run");
  auto serve = [&](stream_listener<Stream>& own, loop_share* share) -> task<> {
    if (&event_loop::current() == &home) {
      co_await run_here(server, own, share);
    } else {
      server_state there(server);
      co_await run_here(there, own, share);
    }
  };
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();  // connections above it get an answer
  auto all = listen_on_loops(listener, loops_to_serve_on(server.app.options.threads), server.app.options.accept,
                             no_limit, server.app.options.observe_stop, serve, where);
  co_await std::move(all);
}

template <class Stream>
GYRE_CORO_WRAPPER task<> run_with(server_state& server, stream_listener<Stream>& listener) {
  if (server.app.options.threads == 1) return run_here(server, listener, nullptr);
  return run_on_loops(server, listener);
}

}  // namespace

server::server(server_options options) : state_(new server_state(std::move(options))) {}
void server::destroy(server_state* state) noexcept {
  if (state->users > 0)
    misuse(
        "an http::server was destroyed while it runs: cancel and await the tasks of run() and serve_connection() "
        "first");
  delete state;
}

server_state& server::state() const noexcept {
  if (state_ == nullptr) misuse("an http::server was used that was moved from: use the server that it was moved to");
  return *state_;
}

GYRE_CORO_WRAPPER task<> server::run() {
  if (auto* const tcp = std::get_if<tcp_listener>(&state().listener)) return run_with<tcp_stream>(state(), *tcp);
  if (auto* const local = std::get_if<unix_listener>(&state().listener)) return run_with<unix_stream>(state(), *local);
  throw std::logic_error("http::server::run: it listens nowhere");
}

task<> server::serve_connection(any_stream stream, address peer) {
  std::optional<server_user> user(std::in_place, state(), "serve_connection");
  any_stream here = std::move(stream);  // closed when this returns, not when the task object is destroyed
  stream_transport carrier(here, state().app.options.timeouts.write);
  auto both = [&](task_group& group) -> task<> {
    const counted_connection counted(state(), peer);
    stream_connection client(state(), carrier, peer);
    const connection_drain stopping(state(), group, client);
    group.spawn(carrier.read(), {.name = "reading for an HTTP connection"});
    if (counted.taken())
      co_await client.run();
    else
      co_await client.refuse_service();
    group.cancel();
  };
  co_await task_group::scope(both);
  user.reset();  // the peer may see the end, and the server be destroyed, before this returns
  co_await carrier.say_goodbye();
}

const std::string& server::where() const noexcept { return state().where; }
std::size_t server::connections() const noexcept {
  state().owner.check("connections");
  return state().app.options.threads == 1 ? state().open : state().count.size();
}
bool server::draining() const noexcept {
  state().owner.check("draining");
  return state().app.draining;
}

task<> serve(server_options options) {
  server here(std::move(options));
  co_await here.run();
}

}  // namespace gyre::http
