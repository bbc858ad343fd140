// src/http/server/server_state.hpp: state shared by the connections of a server.
#pragma once

#include <gyre/coro/context.hpp>
#include <gyre/http/server.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/net/unix_listener.hpp>

#include "exchange/application.hpp"
#include "http1_connection/http1_resources.hpp"
#include "transport/encryption_resources.hpp"

#include <cstddef>
#include <string>
#include <variant>

namespace gyre::http {

class stream_connection;

using any_listener = std::variant<std::monostate, tcp_listener, unix_listener>;

struct server_state {
  explicit server_state(server_options&& chosen);
  /// The same server on another loop, with an own handler if the program gave a factory. Listens nowhere.
  /// Lifetime: `first` must outlive it. Thread: the other loop's.
  explicit server_state(server_state& first);

  application app;
  http1_resources http1{app};
  encryption_resources encryption{app.options};
  any_listener listener;
  std::string where;
  std::size_t users = 0;                     // active uses on a loop; the last one releases what belongs to that loop
  node_list<stream_connection> connections;  // those over other streams than sockets
  std::size_t open = 0;
  owner_loop_of<"an http::server"> owner;
  shared_connection_count& count;
  frame_base idle_place;  // of the connections without a coroutine: shows where they wait

 private:
  shared_connection_count own_count_;
};

}  // namespace gyre::http
