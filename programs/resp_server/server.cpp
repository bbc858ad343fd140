// programs/resp_server/server.cpp: serves RESP requests over TCP.
#include "programs/resp_server/server.hpp"

#include "programs/resp_server/serve_shards.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <gyre/loop/loop_group.hpp>

namespace resp {
namespace {

std::size_t loops_of_runtime() noexcept {
  const gyre::loop_group* const group = gyre::event_loop::current().group();
  return group == nullptr ? 1 : group->size();
}

}  // namespace

gyre::task<> serve(resp_server_options options) {
  shard_set shards(loops_of_runtime(), options.limits, options.keys);
  auto listener = gyre::tcp_listener::bind(options.server.listen);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].info.started_at = wall_clock();
    shards[i].info.port = listener.local_address().port();
  }
  programs::announce(listener);
  co_await serve_shards(listener, shards, options.server.serve());
}

}  // namespace resp
