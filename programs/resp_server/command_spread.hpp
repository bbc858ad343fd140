// programs/resp_server/command_spread.hpp: which keys a command takes, and how its parts on several shards are joined.
#pragma once

#include "programs/resp_server/command.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace resp {

enum class command_spread : std::uint8_t {
  no_key,     ///< PING, CLIENT, …, and requests that are answered with an error without looking at a key
  one_key,    ///< the first argument
  sum,        ///< each key on its shard; the integer replies are added: DEL, EXISTS
  values,     ///< each key on its shard; the values are put into the order of the keys: MGET
  all_set,    ///< each key with its value on its shard; one reply for all of them: MSET
  every_sum,  ///< the whole keyspace; the integer replies are added: DBSIZE
  every_key,  ///< the whole keyspace; the arrays are joined: KEYS
  every,      ///< every shard; the replies are equal: FLUSHALL, FLUSHDB, CONFIG RESETSTAT
  figures,    ///< reports sums over every shard: INFO
};

[[nodiscard]] constexpr bool needs_every_shard(command_spread spread) noexcept {
  return spread >= command_spread::every_sum;
}

/// `arguments` begins with the name.
[[nodiscard]] command_spread spread_of(std::span<const std::string_view> arguments) noexcept;

}  // namespace resp
