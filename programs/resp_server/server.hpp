// programs/resp_server/server.hpp: serves RESP requests over TCP.
#pragma once

#include "programs/resp_server/shard_set.hpp"

#include <gyre/net/tcp_listener.hpp>

namespace resp {

/// Serves on all loops of the runtime, each of which has a shard, until the program is asked to stop or this is
/// cancelled. Then it drains: it stops accepting, and answers the requests that have arrived. `options.threads` must be
/// 0. On each loop, expired keys are removed meanwhile.
/// Lifetime: both references until then. Cancel: drains, then throws. Errors: same as stream_listener::serve().
gyre::task<> serve_shards(gyre::tcp_listener& listener, shard_set& shards, gyre::serve_options options);

}  // namespace resp
