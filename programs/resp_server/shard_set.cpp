// programs/resp_server/shard_set.cpp: the keyspace, divided into one shard for each loop.
#include "programs/resp_server/shard_set.hpp"

#include "programs/resp_server/request_batch.hpp"

#include <algorithm>
#include <ctime>

namespace resp {

unix_ms wall_clock() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &t);  // at most a tick old, at a quarter of the cost
  return unix_ms{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

shard::shard(shard_set& set, std::size_t own_number, const server_limits& own_limits, std::uint64_t hash_seed)
    : all(set),
      number(own_number),
      limits(own_limits),
      keys(figures, hash_seed),
      memory(figures, own_limits.all_clients) {}

shard::~shard() = default;

shard_set::shard_set(std::size_t count, const server_limits& limits, std::uint64_t hash_seed) : hash_{hash_seed + 1} {
  server_limits part = limits;
  part.all_clients = std::max<std::size_t>(1, limits.all_clients / count);
  for (std::size_t i = 0; i < count; ++i) shards_.push_back(std::make_unique<shard>(*this, i, part, hash_seed));
}

std::uint64_t shard_set::sum(figure shard_figures::* member) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : shards_) sum += each->figures.*member;
  return sum;
}

}  // namespace resp
