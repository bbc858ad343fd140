// programs/resp_server/unfinished_command.hpp: a command over many keys that is executed in steps.
#pragma once

#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffer.hpp"

#include <cstddef>

namespace resp {

/// The rest of a command whose work grows with the number of keys. The server executes one step of it at a time,
/// and runs other clients in between.
class unfinished_command {
 public:
  /// Units of work per step, of a few nanoseconds each. The loop runs up to 128 steps before it looks for input of
  /// clients. An entry costs several units, comparing a byte at least one.
  static constexpr std::size_t budget = 2000;

  unfinished_command() noexcept = default;
  unfinished_command(const unfinished_command&) = delete;
  unfinished_command& operator=(const unfinished_command&) = delete;
  virtual ~unfinished_command() = default;

  /// Continues for about `budget` units. Returns true when the command is done.
  virtual bool step(keyspace& keys, unix_ms now, reply_buffer& reply) = 0;
};

}  // namespace resp
