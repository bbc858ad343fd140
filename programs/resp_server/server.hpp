// programs/resp_server/server.hpp: serves RESP requests over TCP.
#pragma once

#include "programs/common/server_options.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/server_limits.hpp"

namespace resp {

struct resp_server_options {
  programs::server_options server;
  server_limits limits;
  keyspace_options keys;
};

/// Serves until it is cancelled, then drains.
/// Cancel: stops accepting; requests that have arrived are answered. Errors: gyre::io_error when it cannot listen.
gyre::task<> serve(resp_server_options options);

}  // namespace resp
