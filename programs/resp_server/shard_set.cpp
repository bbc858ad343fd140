// programs/resp_server/shard_set.cpp: the keyspace, divided into one shard for each loop.
#include "programs/resp_server/shard_set.hpp"

#include <algorithm>
#include <optional>

namespace resp {

shard_set::shard_set(std::size_t count, const server_limits& limits, const keyspace_options& options)
    : hash_(key_hash::with_seed(options.hash_seed ? std::optional(*options.hash_seed + 1) : std::nullopt)),
      ledger_(count) {
  server_limits part = limits;
  part.all_clients = std::max<std::size_t>(1, limits.all_clients / count);
  for (std::size_t i = 0; i < count; ++i) {
    server_state& shard = *shards_.emplace_back(std::make_unique<server_state>(part, options));
    shard.info.clients_limit = limits.all_clients;
    shard.info.shard = i;
    if (count == 1) continue;
    shard.info.ledger = &ledger_;
    shard.shards = this;
  }
}

}  // namespace resp
