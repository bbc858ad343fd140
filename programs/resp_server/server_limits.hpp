// programs/resp_server/server_limits.hpp: limits on what clients may make the server hold, and for how long.
#pragma once

#include "programs/resp_server/request_parser.hpp"

#include <chrono>
#include <cstddef>

namespace resp {

struct server_limits {
  parser_limits request;
  std::size_t output_buffer = std::size_t{128} << 20U;  ///< bytes of replies that one client has not taken
  std::size_t all_clients = std::size_t{1} << 30U;      ///< bytes of requests and replies of all clients
  /// A client must take 64 KiB of a reply, or its rest, within this time.
  std::chrono::nanoseconds write_timeout = std::chrono::seconds(60);
};

}  // namespace resp
