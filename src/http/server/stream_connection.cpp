// src/http/server/stream_connection.cpp: the life of such a connection: wait, answer, repeat.
#include "stream_connection.hpp"

#include <chrono>

namespace gyre::http {

stream_connection::stream_connection(server_state& server, stream_transport& carrier, const address& peer) noexcept
    : server_(server), carrier_(carrier), client_(chosen_protocol(carrier.security()), server, carrier, peer) {
  server.connections.link_last(*this);
  ++server.open;
}

stream_connection::~stream_connection() {
  server_.connections.unlink(*this);
  --server_.open;
}

task<> stream_connection::run() {
  const event_loop& loop = event_loop::current();
  for (bool goes_on = true; goes_on;) {
    if (limit_.is_over(loop.now())) co_return;
    const io::monotonic_time until = limit_.begin(server_, client_.requests(), loop.now());
    buffer_lease received;
    idle_ = true;
    const std::chrono::nanoseconds patience(until == io::wait_forever ? until : until - loop.now());
    const std::error_code outcome = co_await carrier_.receive(received, patience);
    idle_ = false;
    if (outcome) co_return;
    const std::uint64_t requests_before = client_.requests();
    if (!client_.serve_at_once(received)) co_await client_.serve_rest(goes_on);
    if (client_.requests() != requests_before)
      limit_.came_request();
    else if (server_.app.draining)
      co_return;
    else
      limit_.came_others(server_, requests_before, loop.now());
  }
}

}  // namespace gyre::http
