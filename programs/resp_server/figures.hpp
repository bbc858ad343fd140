// programs/resp_server/figures.hpp: the numbers of each shard, which every loop may read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace resp {

/// A number that one loop changes and any loop may read. A change is a plain store: no lock, no atomic addition.
class figure {
 public:
  void operator=(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void operator+=(std::uint64_t more) noexcept { *this = *this + more; }
  void operator-=(std::uint64_t less) noexcept { *this = *this - less; }
  operator std::uint64_t() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The numbers of one shard, on cache lines of their own. INFO and the limit on memory add up those of all shards,
/// while a command writes only to its own. Together, shards may exceed the limit by the commands that run at this
/// moment.
struct alignas(64) shard_figures {
  figure clients;          ///< connected now
  figure connections;      ///< accepted so far
  figure commands;         ///< executed so far
  figure messages;         ///< sent to other shards
  figure write_timeouts;   ///< connections that ended because their client did not read
  figure evicted_clients;  ///< see client_memory
  figure client_bytes;     ///< of requests and replies
  figure keys;
  figure expiring_keys;
  figure expired_keys;  ///< removed so far
  figure key_bytes;     ///< of keys, values and their tables
};

}  // namespace resp
