// programs/resp_server/shard_set.hpp: the keyspace, divided into one shard for each loop.
#pragma once

#include "programs/resp_server/key_hash.hpp"
#include "programs/resp_server/memory_ledger.hpp"
#include "programs/resp_server/server_state.hpp"

#include <gyre/loop/event_loop.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace resp {

/// The shards of a server. The loop with index i of the runtime owns shard i; only its thread uses that shard.
///
/// Limits: maxmemory holds for all shards together, by a memory_ledger: keys are spread evenly, but large values need
/// not be. Each loop enforces its equal part of maxmemory-clients: so no loop has to evict clients of another one.
class shard_set {
 public:
  /// Thread: one of the loops, before the others use it. `count` is the number of loops of the runtime.
  shard_set(std::size_t count, const server_limits& limits, const keyspace_options& options);

  [[nodiscard]] std::size_t size() const noexcept { return shards_.size(); }
  [[nodiscard]] server_state& operator[](std::size_t shard) noexcept { return *shards_[shard]; }
  /// The shard of the calling thread's loop.
  [[nodiscard]] server_state& here() noexcept { return *shards_[gyre::event_loop::current().index()]; }

  /// The shard that owns a key. The hash has a key of its own: the keys of one shard are spread over all buckets of its
  /// table.
  [[nodiscard]] std::size_t shard_of(std::string_view key) const {
    const std::size_t high_bits = hash_(key) >> 32U;
    return high_bits * shards_.size() >> 32U;
  }

  [[nodiscard]] memory_ledger& ledger() noexcept { return ledger_; }

 private:
  key_hash hash_;
  memory_ledger ledger_;
  std::vector<std::unique_ptr<server_state>> shards_;
};

}  // namespace resp
