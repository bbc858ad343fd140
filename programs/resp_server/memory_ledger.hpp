// programs/resp_server/memory_ledger.hpp: the memory that each shard uses, readable on every loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace resp {

/// Each shard stores the number of bytes that it uses, and any loop may add them up. So a limit holds for all shards
/// together, while a command writes only to the cache line of its own shard. A sum does not include the commands that
/// run on other loops at this moment: together, shards may exceed a limit by one command each.
///
/// Thread: any.
class memory_ledger {
 public:
  explicit memory_ledger(std::size_t shards) : shards_(shards), used_(std::make_unique<line[]>(shards)) {}

  /// Only for the loop of the shard.
  void set(std::size_t shard, std::size_t bytes) noexcept {
    used_[shard].bytes.store(bytes, std::memory_order_relaxed);
  }
  /// The bytes of all shards except one.
  [[nodiscard]] std::size_t used_by_others(std::size_t shard) const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < shards_; ++i)
      if (i != shard) sum += used_[i].bytes.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) line {
    std::atomic<std::size_t> bytes{0};
  };
  std::size_t shards_;
  std::unique_ptr<line[]> used_;
};

}  // namespace resp
