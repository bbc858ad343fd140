// programs/resp_server/keyspace.hpp: the keys of a shard, their values, and when they expire.
#pragma once

#include "programs/resp_server/figures.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace resp {

/// Milliseconds since 1970.
using unix_ms = std::int64_t;

inline constexpr unix_ms never = std::numeric_limits<unix_ms>::max();

struct stored_value {
  std::string bytes;
  unix_ms expires_at = never;  // as in Redis, still alive at this very millisecond
};
using entry = std::pair<const std::string, stored_value>;

/// A fast hash (after wyhash). Its seed should be random, so that peers cannot choose colliding strings in advance.
/// Not cryptographic.
struct key_hash {
  using is_transparent = void;

  std::uint64_t seed = 0;

  // Not noexcept on purpose: libstdc++ then stores the hash in the node, and need not compute it again for the
  // neighbours in a bucket.
  std::size_t operator()(std::string_view bytes) const {
    std::uint64_t state = mix(seed ^ first_constant, bytes.size() ^ second_constant);
    for (; bytes.size() > 16; bytes.remove_prefix(16)) state = mix_block(bytes.data(), state);
    char rest[16] = {};
    bytes.copy(rest, sizeof(rest));
    return mix(mix_block(rest, state) ^ seed, second_constant);
  }

 private:
  static constexpr std::uint64_t first_constant = 0x2d358dccaa6c78a5U;
  static constexpr std::uint64_t second_constant = 0x8bb84b93962eacc9U;

  [[nodiscard]] std::uint64_t mix_block(const char* from, std::uint64_t state) const noexcept {
    std::uint64_t words[2];
    std::memcpy(words, from, sizeof(words));
    return mix(words[0] ^ seed ^ second_constant, words[1] ^ state);
  }
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
};

/// Maps strings to strings. An expired key counts as absent: it is removed by the next call that finds it, or by
/// expire_some(). The caller always passes the time. Keeps the figures of its shard.
///
/// Lifetime: references to entries stay valid until the entry is erased, by any call. `figures` must outlive it.
/// Errors:   std::bad_alloc, with nothing changed.
class keyspace {
 public:
  keyspace(shard_figures& figures, std::uint64_t hash_seed) : figures_(figures), entries_(0, key_hash{hash_seed}) {}
  keyspace& operator=(keyspace&&) = delete;

  /// Returns the entry of a key, or null. Removes the entry if it has expired. Allocates nothing.
  [[nodiscard]] entry* find(std::string_view key, unix_ms now);

  /// Sets the value of `old`, which find() has returned for this key, or adds the key. Reuses the memory of the old
  /// value if the new one fits and does not waste too much of it.
  entry& set(entry* old, std::string_view key, std::string_view value);

  /// Sets or changes the time when an entry expires, perhaps to `never`.
  void expire_at(entry& item, unix_ms when);
  void erase(entry& item);

  /// Removes at most `budget` expired entries. Returns their number; if that is `budget`, call again.
  std::size_t expire_some(unix_ms now, std::size_t budget);

 private:
  void publish() noexcept;

  shard_figures& figures_;
  std::unordered_map<std::string, stored_value, key_hash, std::equal_to<>> entries_;
  std::set<std::pair<unix_ms, entry*>> expiring_;  // soonest first
  std::size_t entry_bytes_ = 0;
};

}  // namespace resp
