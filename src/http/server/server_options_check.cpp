// src/http/server/server_options_check.cpp: refuses options under which no request would ever be answered.
#include "server_options_check.hpp"

#include <gyre/http/field_line.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

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

}  // namespace

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

}  // namespace gyre::http
