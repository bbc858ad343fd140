// src/http/server/server.cpp: accepts connections, and drains them.
#include <gyre/coro/await_place.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/server.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/tasks/task_group.hpp>

#include "counted_connection.hpp"
#include "server_state.hpp"
#include "socket_connection.hpp"
#include "stream_connection.hpp"
#include "stream_transport.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::string_view unix_prefix = "unix:";

any_listener listen(const server_options& options) {
  const std::string_view where = options.listen;
  if (where.empty()) return {};
  if (where.starts_with(unix_prefix)) return unix_listener::bind(unix_address(where.substr(unix_prefix.size())));
  return tcp_listener::bind(where, options.socket);
}

std::string name_of(const any_listener& listener, const server_options& options) {
  if (const auto* const tcp = std::get_if<tcp_listener>(&listener)) return tcp->local_address().string();
  return options.listen;
}

// Rejects limits under which no request would ever be answered.
void check(const server_limits& limits) {
  const auto refuse = [](const char* reason) { throw std::invalid_argument(std::string("http::server: ") + reason); };
  if (limits.connections == 0) refuse("limits.connections is 0: every connection would be refused");
  if (limits.connections_per_address == 0)
    refuse("limits.connections_per_address is 0: every client would be refused; give limits.connections for no limit");
  if (limits.handshakes == 0) refuse("limits.handshakes is 0: every encrypted connection would be refused");
  if (limits.requests_per_connection == 0) refuse("limits.requests_per_connection must be at least 1");
  if (limits.head.target == 0) refuse("limits.head.target is 0: every request would be refused");
  if (limits.head.fields == 0) refuse("limits.head.fields is 0: every request has a Host field, and would be refused");
  if (limits.head.size == 0) refuse("limits.head.size is 0: every request would be refused");
}

void check(const server_timeouts& timeouts) {
  const struct {
    const char* name;
    std::chrono::nanoseconds time;
  } all[] = {{"head", timeouts.head},
             {"handshake", timeouts.handshake},
             {"idle", timeouts.idle},
             {"body", timeouts.body},
             {"write", timeouts.write},
             {"handler", timeouts.handler},
             {"half_closed", timeouts.half_closed},
             {"drain", timeouts.drain},
             {"last_request", timeouts.last_request}};
  for (const auto& [name, time] : all)
    if (time < std::chrono::nanoseconds::zero())
      throw std::invalid_argument(std::string("http::server: timeouts.") + name +
                                  " is negative; nanoseconds::max() means no limit");
}

server_options&& checked(server_options&& options) {
  if (options.make_routes) {
    if (options.routes) throw std::invalid_argument("http::server: give routes or make_routes, not both");
    options.routes = options.make_routes();
  }
  if (!options.routes) throw std::invalid_argument("http::server: there are no routes; give a router or a handler");
  check(options.limits);
  check(options.timeouts);
  if (!options.name.empty() && !is_field_value(options.name))
    throw std::invalid_argument("http::server: the name holds a control character, or white space around it");
  return std::move(options);
}

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
    server_.files.clear();
    server_.listings.clear();
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

// Closes idle connections after a while. A timer needs no memory, unlike a task.
class idle_closer : private timer {
 public:
  idle_closer(server_state& server, served_connections& accepted) noexcept : server_(server), accepted_(accepted) {
    fire = [](timer& t) noexcept { static_cast<idle_closer&>(t).close(); };
    deadline = deadline_after(server.options.timeouts.last_request);
    if (deadline != io::wait_forever) event_loop::current().timers().arm(*this);
  }
  idle_closer& operator=(idle_closer&&) = delete;
  ~idle_closer() { event_loop::current().timers().disarm(*this); }

 private:
  void close() noexcept {
    accepted_.for_each_socket(&socket_connection::end_if_idle);
    for (stream_connection* each = server_.connections; each != nullptr; each = each->next) each->interrupt_if_idle();
  }

  server_state& server_;
  served_connections& accepted_;
};

task<> drain(server_state& server, served_connections& accepted, task<> connections_ended) {
  const idle_closer idle(server, accepted);
  co_await std::move(connections_ended);
}

// Drains a connection that the program accepted: it observes stop requests on its own.
class connection_drain : private stop_observer {
 public:
  connection_drain(server_state& server, task_group& group, stream_connection& client) noexcept
      : server_(server), group_(group), client_(client) {
    told = [](stop_observer& observer, stop_level level) noexcept {
      static_cast<connection_drain&>(observer).on_stop(level);
    };
    idle_.owner = end_.owner = this;
    idle_.fire = [](timer& t) noexcept { static_cast<limit&>(t).owner->client_.interrupt_if_idle(); };
    end_.fire = [](timer& t) noexcept { static_cast<limit&>(t).owner->group_.cancel(); };
    event_loop::current().stops().add(*this);
  }
  connection_drain& operator=(connection_drain&&) = delete;
  ~connection_drain() {
    event_loop::current().stops().remove(*this);
    for (limit* each : {&idle_, &end_}) event_loop::current().timers().disarm(*each);
  }

 private:
  struct limit : timer {
    connection_drain* owner = nullptr;
  };

  void on_stop(stop_level level) noexcept {
    if (level == stop_level::forced) return group_.cancel();
    if (!server_.options.observe_stop) return;
    server_.draining = true;
    arm(idle_, server_.options.timeouts.last_request);
    arm(end_, server_.options.timeouts.drain);
  }
  static void arm(limit& clock, std::chrono::nanoseconds from_now) noexcept {
    clock.deadline = deadline_after(from_now);
    if (clock.deadline != io::wait_forever) event_loop::current().timers().arm(clock);
  }

  server_state& server_;
  task_group& group_;
  stream_connection& client_;
  limit idle_;
  limit end_;
};

// The handler of another loop, used by this one too.
struct shared_routes : prompt_handler<shared_routes> {
  handler* routes = nullptr;
  [[nodiscard]] started_response start(request& r) const { return routes->start(r); }
};

handler routes_for_other_loop(server_options& first) {
  if (first.make_routes) return first.make_routes();
  shared_routes shared;
  shared.routes = &first.routes;
  return {shared, first.routes.made_at()};
}

server_options options_for_other_loop(server_state& first) {
  const server_options& from = first.options;
  return {.listen = "",
          .routes = routes_for_other_loop(first.options),
          .limits = from.limits,
          .timeouts = from.timeouts,
          .socket = from.socket,
          .name = from.name,
          .observer = from.observer,
          .encryption = from.encryption,
          .failed_handshakes = from.failed_handshakes,
          .counted_with = &first.count,
          .observe_stop = from.observe_stop};
}

template <class Listener>
task<> run_here(server_state& server, Listener& listener, loop_share* share) {
  using stream = decltype(listener.accept().await_resume());
  const server_user here(server, "run");
  const std::source_location where = co_await started_by_program_at();
  served_connections connections(co_await this_task_context{}, server.options.observe_stop, share);
  socket_connections serve{server};
  // Created early: there may be no memory left when the server drains.
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  auto last = shield(served_connections::serve_the_last(connections, listener, serve, no_limit, where));
  auto draining =
      shield(drain(server, connections, served_connections::drain(connections, server.options.timeouts.drain)));
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
  server.draining = true;
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
  auto all = listen_on_loops(listener, loops_to_serve_on(server.options.threads), server.options.accept, no_limit,
                             server.options.observe_stop, serve, where);
  co_await std::move(all);
}

template <class Stream>
GYRE_CORO_WRAPPER task<> run_with(server_state& server, stream_listener<Stream>& listener) {
  if (server.options.threads == 1) return run_here(server, listener, nullptr);
  return run_on_loops(server, listener);
}

}  // namespace

server_state::server_state(server_state& first) : server_state(options_for_other_loop(first)) { where = first.where; }

server_state::server_state(server_options&& chosen)
    : options(checked(std::move(chosen))),
      listener(listen(options)),
      where(name_of(listener, options)),
      count(options.counted_with != nullptr ? *options.counted_with : own_count_) {}

void server_state::renew_lines(io::monotonic_time now) {
  const timespec time = io::wall_clock();
  text_of_lines_.assign("Date: ").append(date_.text(time.tv_sec)).append("\r\n");
  const std::size_t date = text_of_lines_.size();
  if (!options.name.empty()) append_field_line(text_of_lines_, "Server", options.name);
  const std::size_t both = text_of_lines_.size();
  // So that no client sends a request at the moment at which the server closes an idle connection.
  const std::chrono::nanoseconds idle = options.timeouts.idle;
  constexpr std::string_view connection = "Connection: keep-alive\r\n";
  if (idle != idle.max())
    text_of_lines_.append(connection)
        .append("Keep-Alive: timeout=")
        .append(std::to_string(std::chrono::floor<std::chrono::seconds>(idle).count()))
        .append("\r\n");
  const std::string_view all = text_of_lines_;
  lines_ = {.date = all.substr(0, date),
            .server = all.substr(date, both - date),
            .keep_alive = all.substr(std::min(both + connection.size(), all.size())),
            .all = all};
  next_second_ = now + (1'000'000'000 - time.tv_nsec);  // last: without memory, the text has no end
}

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
  stream_transport carrier(here, state().options.timeouts.write);
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
  return state().options.threads == 1 ? state().open : state().count.size();
}
bool server::draining() const noexcept {
  state().owner.check("draining");
  return state().draining;
}

task<> serve(server_options options) {
  server here(std::move(options));
  co_await here.run();
}

}  // namespace gyre::http
