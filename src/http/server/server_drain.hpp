// src/http/server/server_drain.hpp: how the connections of a server end when it stops.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/stop_observer.hpp>
#include <gyre/tasks/task_group.hpp>

#include "server_state.hpp"
#include "socket_connection.hpp"
#include "stream_connection.hpp"

#include <chrono>
#include <utility>

namespace gyre::http {

/// Closes idle connections after a while. A timer needs no memory, unlike a task.
class idle_closer : private timer {
 public:
  idle_closer(server_state& server, served_connections& accepted) noexcept : server_(server), accepted_(accepted) {
    fire = [](timer& t) noexcept { static_cast<idle_closer&>(t).close(); };
    deadline = deadline_after(server.app.options.timeouts.last_request);
    if (deadline != io::wait_forever) event_loop::current().timers().arm(*this);
  }
  idle_closer& operator=(idle_closer&&) = delete;
  ~idle_closer() { event_loop::current().timers().disarm(*this); }

 private:
  void close() noexcept {
    accepted_.for_each_socket(&socket_connection::end_if_idle);
    for (stream_connection* each = server_.connections.first(); each != nullptr; each = each->next)
      each->interrupt_if_idle();
  }

  server_state& server_;
  served_connections& accepted_;
};

/// Waits for the end of the connections of a server that drains.
inline task<> drain(server_state& server, served_connections& accepted, task<> connections_ended) {
  const idle_closer idle(server, accepted);
  co_await std::move(connections_ended);
}

/// Drains a connection that the program accepted: it observes stop requests on its own.
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
    if (!server_.app.options.observe_stop) return;
    server_.app.draining = true;
    arm(idle_, server_.app.options.timeouts.last_request);
    arm(end_, server_.app.options.timeouts.drain);
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

}  // namespace gyre::http
