// programs/resp_server/serve_shards.hpp: serves the connections of a listener on all loops.
#pragma once

#include <gyre/net/tcp_listener.hpp>

namespace resp {

class shard_set;

/// Serves until the program is asked to stop or this is cancelled, and then drains. Every loop of the runtime has a
/// shard, and `options.threads` must be 0. On each loop, expired keys are removed meanwhile.
/// Lifetime: both references until then. Cancel: drains, then throws. Errors: same as stream_listener::serve().
gyre::task<> serve_shards(gyre::tcp_listener& listener, shard_set& shards, gyre::serve_options options);

}  // namespace resp
