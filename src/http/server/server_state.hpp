// src/http/server/server_state.hpp: state shared by the connections of a server.
#pragma once

#include <gyre/coro/context.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/server.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/net/unix_listener.hpp>

#include "files/listing_cache.hpp"
#include "files/open_files.hpp"
#include "http1/response_head.hpp"
#include "http1_connection/workspace.hpp"
#include "transport/busy_sessions.hpp"
#include "transport/cipher_buffers.hpp"
#include "transport/handshakes.hpp"

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

  /// The fields of responses. Lifetime: valid until the next call.
  [[nodiscard]] const server_lines& lines() {
    const io::monotonic_time now = event_loop::current().recent();
    if (now >= next_second_) renew_lines(now);
    return lines_;
  }

  server_options options;
  any_listener listener;
  std::string where;
  workspaces work;
  cipher_buffers ciphers;
  http::handshakes handshakes;
  http::busy_sessions busy_sessions;
  open_files files;
  listing_cache listings;
  std::size_t users = 0;                     // active uses on a loop; the last one releases what belongs to that loop
  stream_connection* connections = nullptr;  // list of the connections over other streams than sockets
  std::size_t open = 0;
  owner_loop_of<"an http::server"> owner;
  std::size_t refused = 0;  // connections that are being refused with a response
  shared_connection_count& count;
  bool draining = false;
  frame_base idle_place;  // of the connections without a coroutine: shows where they wait

 private:
  void renew_lines(io::monotonic_time now);

  shared_connection_count own_count_;
  date_cache date_;
  io::monotonic_time next_second_ = 0;  // when the clock of the loop shows this, the date has changed
  std::string text_of_lines_;
  server_lines lines_;
};

}  // namespace gyre::http
