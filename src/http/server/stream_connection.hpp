// src/http/server/stream_connection.hpp: a connection over a stream that the program has given to the server.
#pragma once

#include "idle_limit.hpp"
#include "spoken_connection.hpp"
#include "transport/stream_transport.hpp"

namespace gyre::http {

class stream_connection {
 public:
  stream_connection(server_state& server, stream_transport& carrier, const address& peer) noexcept;
  stream_connection& operator=(stream_connection&&) = delete;
  ~stream_connection();

  /// Returns when the connection is finished. The stream may be closed then.
  task<> run();
  GYRE_CORO_WRAPPER task<> refuse_service() { return client_.refuse_service(); }
  /// Ends the connection if it is waiting for a request.
  void interrupt_if_idle() noexcept {
    if (idle_) carrier_.interrupt();
  }

  stream_connection* previous = nullptr;
  stream_connection* next = nullptr;

 private:
  server_state& server_;
  stream_transport& carrier_;
  spoken_connection client_;
  idle_limit limit_;
  bool idle_ = false;
};

}  // namespace gyre::http
