// programs/resp_server/shard_set.hpp: the keyspace, divided into one shard for each loop.
#pragma once

#include "programs/resp_server/client_memory.hpp"
#include "programs/resp_server/figures.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffer.hpp"
#include "programs/resp_server/request_parser.hpp"

#include <gyre/loop/event_loop.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace resp {

class request_batch;
class shard_set;

/// Limits on what clients may make the server hold, and for how long.
struct server_limits {
  parser_limits request;
  std::size_t output_buffer = std::size_t{128} << 20U;  ///< bytes of one reply, or of one value of an array
  std::size_t all_clients = std::size_t{1} << 30U;      ///< bytes of requests and replies of all clients
  std::optional<std::size_t> memory;                    ///< bytes of keys, values, requests and replies; none: no limit
  /// A client must take 64 KiB of a reply, or its rest, within this time.
  std::chrono::nanoseconds write_timeout = std::chrono::seconds(60);
};

/// More replies than this are sent before the next request is executed.
inline constexpr std::size_t max_pending_replies = std::size_t{64} << 10U;
/// A buffer with this limit takes any small reply, such as that of a command that changes something, at any time. A
/// command whose reply does not fit has changed nothing.
inline constexpr std::size_t reply_limit = max_pending_replies + 4096;

/// The time as seen by commands.
[[nodiscard]] unix_ms wall_clock() noexcept;

/// The buffers of a connection that has unanswered input. An idle one holds none.
struct client_buffers {
  explicit client_buffers(const server_limits& limits) noexcept : parser(limits.request) {}

  request_parser parser;
  std::string partial;  // the beginning of a request whose end has not arrived, or requests that wait
  reply_buffer reply{reply_limit};

  [[nodiscard]] std::size_t allocated_bytes() const noexcept {
    return partial.capacity() + parser.allocated_bytes() + reply.capacity();
  }
  void clear() noexcept {
    parser.reset();
    partial.clear();
    reply.clear();
  }
};

/// Lends objects for the time in which a connection needs them. So idle connections hold none, and busy ones share the
/// object that is in the cache.
template <class T>
class object_pool {
 public:
  /// Makes one of `arguments` when none is free.
  template <class... Arguments>
  [[nodiscard]] std::unique_ptr<T> take(Arguments&&... arguments) {
    if (free_.empty()) return std::make_unique<T>(std::forward<Arguments>(arguments)...);
    std::unique_ptr<T> one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  void give_back(std::unique_ptr<T> one) {
    constexpr std::size_t max_kept = 32;
    if (free_.size() == max_kept || one->allocated_bytes() > 2 * reply_limit) return;
    one->clear();
    free_.push_back(std::move(one));
  }

 private:
  std::vector<std::unique_ptr<T>> free_;
};

/// The keys of one loop, and what the connections on that loop share. Thread: that of the loop, except `figures`.
struct shard {
  shard(shard_set& set, std::size_t own_number, const server_limits& own_limits, std::uint64_t hash_seed);
  shard& operator=(shard&&) = delete;
  ~shard();

  shard_set& all;
  std::size_t number;
  server_limits limits;
  shard_figures figures;
  keyspace keys;
  client_memory memory;
  object_pool<client_buffers> free_buffers;
  object_pool<request_batch> free_batches;
};

/// The shards of a server. The loop with index i of the runtime owns shard i; only its thread uses that shard.
///
/// Limits: server_limits::memory holds for all shards together: keys are spread evenly, but large values need not be.
/// Each loop enforces its equal part of all_clients: so no loop has to evict clients of another one.
class shard_set {
 public:
  /// `count` is the number of loops of the runtime. Thread: one of the loops, before the others use it.
  shard_set(std::size_t count, const server_limits& limits, std::uint64_t hash_seed = std::random_device()());

  [[nodiscard]] std::size_t size() const noexcept { return shards_.size(); }
  [[nodiscard]] shard& operator[](std::size_t number) noexcept { return *shards_[number]; }
  /// The shard of the calling thread's loop.
  [[nodiscard]] shard& here() noexcept { return *shards_[gyre::event_loop::current().index()]; }

  /// The shard that owns a key. The hash has a seed of its own: the keys of one shard are spread over all buckets of
  /// its table.
  [[nodiscard]] std::size_t shard_of(std::string_view key) const {
    return shards_.size() == 1 ? 0 : (hash_(key) >> 32U) * shards_.size() >> 32U;
  }

  /// The sum of a figure over all shards. Thread: any.
  [[nodiscard]] std::uint64_t sum(figure shard_figures::* member) const noexcept;

  std::uint16_t port = 0;  // for INFO

 private:
  key_hash hash_;
  std::vector<std::unique_ptr<shard>> shards_;
};

}  // namespace resp
