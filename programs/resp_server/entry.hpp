// programs/resp_server/entry.hpp: a key with its value, as the keyspace stores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace resp {

/// Milliseconds since 1970.
using unix_ms = std::int64_t;

inline constexpr unix_ms never = std::numeric_limits<unix_ms>::max();

struct stored_value;
using entry = std::pair<const std::string, stored_value>;

struct stored_value {
  std::string bytes;
  unix_ms expires_at = never;      // as in Redis, still alive at this very millisecond
  std::size_t queue_position = 0;  // meaningful unless expires_at is never
  entry* newer = nullptr;          // in the list of all entries
  entry* older = nullptr;
};

}  // namespace resp
