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

/// Serves on all loops of the runtime, with a shard of the keyspace on each, until the program is asked to stop or this
/// is cancelled. Then it drains: it stops accepting, and answers the requests that have arrived.
/// Cancel: drains, then throws. Errors: gyre::io_error when it cannot listen.
gyre::task<> serve(resp_server_options options);

}  // namespace resp
